// SPDX-License-Identifier: Apache-2.0
//
// Writes the Verilog of a coherent cluster: VexRiscv cores with caches of their own, whose writes
// invalidate the lines of the others, and atomic memory operations. Each core fetches by a bus of
// its own (BMB, 32 bit); one data bus for all (Wishbone, 32 bit) leaves the cluster behind the
// coherence. Arguments: cores, bytes of each cache, folder.
package kadenz

import spinal.core._
import spinal.core.fiber._
import spinal.lib._
import spinal.lib.bus.bmb._
import spinal.lib.bus.misc.DefaultMapping
import spinal.lib.generator._
import spinal.lib.bus.wishbone._
import vexriscv.VexRiscvConfig
import vexriscv.demo.smp.{BmbToWishboneGenerator, VexRiscvSmpClusterBase, VexRiscvSmpClusterGen, VexRiscvSmpClusterParameter}
import vexriscv.plugin.{CsrAccess, CsrPlugin, CsrPluginConfig, YamlPlugin}

class Cluster(p: VexRiscvSmpClusterParameter) extends VexRiscvSmpClusterBase(p) {
  val dataBridge = BmbToWishboneGenerator(DefaultMapping)
  val data = Handle(dataBridge.logic.io.output.toIo.setName("data"))
  interconnect.slaves(dataBridge.bmb).forceAccessSourceDataWidth(32)
  interconnect.addConnection(dBusNonCoherent.bmb, dataBridge.bmb)

  val fetches = for ((core, number) <- cores.zipWithIndex) yield new Area {
    val source = Handle[BmbAccessCapabilities]
    val requirements = Handle[BmbAccessParameter]
    val bus = Handle(Bmb(requirements.toBmbParameter()))
    interconnect.addSlave(
      accessSource = source,
      accessCapabilities = Handle(source.get),
      accessRequirements = requirements,
      bus = bus,
      mapping = DefaultMapping
    )
    interconnect.addConnection(core.cpu.iBus, bus)
    val outside = Handle {
      val io = master(Bmb(bus.p)).setName(s"fetch_$number")
      bus >> io
      io
    }
  }

  val interrupts = for ((core, number) <- cores.zipWithIndex) yield new Area {
    val software = Handle(in(Bool()).setName(s"software_$number"))
    val timer = Handle(in(Bool()).setName(s"timer_$number"))
    val external = Handle(False)
    core.cpu.setSoftwareInterrupt(software)
    core.cpu.setTimerInterrupt(timer)
    Dependable(external, core.cpu.externalInterrupt)(core.cpu.externalInterrupt := external)
  }
}

object Cluster {
  /** A core without virtual memory, with every machine-mode counter, that waits in WFI. */
  def core(number: Int, instructionBytes: Int, dataBytes: Int): VexRiscvConfig = {
    val made = VexRiscvSmpClusterGen.vexRiscvConfig(
      hartId = number,
      ioRange = address => address(31 downto 28) < 8, // devices; memory is above
      resetVector = 0x80000080L, // where boards/softcore/sections.ld puts it
      iBusWidth = 32,
      dBusWidth = 32,
      iCacheSize = instructionBytes,
      dCacheSize = dataBytes,
      withMmu = false,
      withSupervisor = false,
      rvc = true,
      injectorStage = true
    )
    made.plugins --= made.plugins.collect { case one @ (_: CsrPlugin | _: YamlPlugin) => one }
    made.plugins += new CsrPlugin(
      CsrPluginConfig.all(mtvecInit = null).copy(mhartid = number, misaAccess = CsrAccess.NONE)
    )
    made
  }

  def main(arguments: Array[String]): Unit = {
    val Array(count, instructionBytes, dataBytes, folder) = arguments
    spinal.core.SpinalConfig(
      targetDirectory = folder,
      netlistFileName = "cluster.v",
      defaultConfigForClockDomains = ClockDomainConfig(resetKind = spinal.core.SYNC)
    ).generateVerilog(
      new GeneratorComponent(
        new Cluster(
          VexRiscvSmpClusterParameter(
            cpuConfigs =
              List.tabulate(count.toInt)(core(_, instructionBytes.toInt, dataBytes.toInt)),
            jtagHeaderIgnoreWidth = 0,
            withExclusiveAndInvalidation = true
          )
        )
      ).setDefinitionName("Cluster")
    )
  }
}
