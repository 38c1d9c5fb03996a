//! Six-axis motion control over EtherCAT in four real-time tasks (yoo2024, section 5), with the supervision that master
//! libraries leave to the application.

pub mod cia402;
pub mod profile;
pub mod robot;
pub mod rt;
pub mod supervise;
