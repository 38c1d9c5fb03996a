//! A simulated EtherCAT segment that any master accepts: a ring of devices with faithful EtherCAT slave controllers,
//! mailbox CoE, distributed clocks, drives that move a [`plant::Plant`], and faults by script.

pub mod plant;
