// SPDX-License-Identifier: Apache-2.0
//
// Ibex in its default configuration (RV32IMC, fast multiplier, no cache), with the ports that the
// bench drives. With Debug, it has a debug mode and four hardware breakpoints.

module kdz_core #(
    parameter bit Debug = 1'b0
) (
    input               clk,
    input               reset_n,
    input        [31:0] hart_id,
    input        [31:0] boot_address,

    output logic        instr_req,
    input               instr_gnt,
    input               instr_rvalid,
    output logic [31:0] instr_addr,
    input        [31:0] instr_rdata,
    input               instr_err,

    output logic        data_req,
    input               data_gnt,
    input               data_rvalid,
    output logic        data_we,
    output logic [ 3:0] data_be,
    output logic [31:0] data_addr,
    output logic [31:0] data_wdata,
    input        [31:0] data_rdata,
    input               data_err,

    input               irq_software,
    input               irq_timer,
    input               debug_req,
    output logic        asleep,

    output logic        retired,  // the RISC-V formal interface, one cycle after the instruction
    output logic [63:0] retired_order,
    output logic [31:0] retired_pc
);
    // The addresses are those of jtag/debug_module.cpp.
    ibex_top #(
        .DbgTriggerEn   (Debug),
        .DbgHwBreakNum  (4),
        .DmBaseAddr     (32'h000),
        .DmAddrMask     (32'hfff),
        .DmHaltAddr     (32'h800),
        .DmExceptionAddr(32'h810)
    ) core (
        .clk_i                 (clk),
        .rst_ni                (reset_n),
        .test_en_i             (1'b0),
        .ram_cfg_i             ('0),
        .hart_id_i             (hart_id),
        .boot_addr_i           (boot_address),
        .instr_req_o           (instr_req),
        .instr_gnt_i           (instr_gnt),
        .instr_rvalid_i        (instr_rvalid),
        .instr_addr_o          (instr_addr),
        .instr_rdata_i         (instr_rdata),
        .instr_rdata_intg_i    ('0),
        .instr_err_i           (instr_err),
        .data_req_o            (data_req),
        .data_gnt_i            (data_gnt),
        .data_rvalid_i         (data_rvalid),
        .data_we_o             (data_we),
        .data_be_o             (data_be),
        .data_addr_o           (data_addr),
        .data_wdata_o          (data_wdata),
        .data_wdata_intg_o     (),
        .data_rdata_i          (data_rdata),
        .data_rdata_intg_i     ('0),
        .data_err_i            (data_err),
        .irq_software_i        (irq_software),
        .irq_timer_i           (irq_timer),
        .irq_external_i        (1'b0),
        .irq_fast_i            ('0),
        .irq_nm_i              (1'b0),
        .scramble_key_valid_i  (1'b0),
        .scramble_key_i        ('0),
        .scramble_nonce_i      ('0),
        .scramble_req_o        (),
        .debug_req_i           (Debug & debug_req),
        .crash_dump_o          (),
        .double_fault_seen_o   (),
        .rvfi_valid            (retired),
        .rvfi_order            (retired_order),
        .rvfi_pc_rdata         (retired_pc),
        .fetch_enable_i        (ibex_pkg::IbexMuBiOn),
        .alert_minor_o         (),
        .alert_major_internal_o(),
        .alert_major_bus_o     (),
        .core_sleep_o          (asleep),
        .scan_rst_ni           (1'b1)
    );
endmodule
