// SPDX-License-Identifier: Apache-2.0
//
// The three cells that Ibex leaves to its technology, as a simulator needs them.

module prim_buf #(
    parameter int Width = 1
) (
    input        [Width-1:0] in_i,
    output logic [Width-1:0] out_o
);
    assign out_o = in_i;
endmodule

module prim_flop #(
    parameter int               Width      = 1,
    parameter logic [Width-1:0] ResetValue = '0
) (
    input                    clk_i,
    input                    rst_ni,
    input        [Width-1:0] d_i,
    output logic [Width-1:0] q_o
);
    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) q_o <= ResetValue;
        else q_o <= d_i;
    end
endmodule

// The enable is taken while the clock is low, so that the gated clock has no short pulse.
module prim_clock_gating (
    input        clk_i,
    input        en_i,
    input        test_en_i,
    output logic clk_o
);
    logic open;
    always_latch begin
        if (!clk_i) open = en_i | test_en_i;
    end
    assign clk_o = clk_i & open;
endmodule
