// SPDX-License-Identifier: Apache-2.0
//! Process data that no number holds.

use crate::support::master::{Master, Sdo};
use kadenz_segment::description::Purpose;
use kadenz_segment::ring::Ring;
use kadenz_segment::segment::Segment;
use kadenz_segment::settings::RingFile;

const LONG: usize = 100;

/// 300 bits of padding, 100 bytes and an array of 12 bits, from the master and to it.
fn esi() -> String {
    let entries = |index: &str| {
        format!(
            "<Entry><Index>0</Index><BitLen>300</BitLen></Entry>\
             <Entry><Index>{index}</Index><SubIndex>1</SubIndex><BitLen>{}</BitLen><DataType>OCTET_STRING({LONG})</DataType></Entry>\
             <Entry><Index>{index}</Index><SubIndex>2</SubIndex><BitLen>12</BitLen><DataType>ARRAY [0..11] OF BIT</DataType></Entry>",
            8 * LONG
        )
    };
    format!(
        "<EtherCATInfo><Vendor><Id>2</Id></Vendor><Descriptions><Devices><Device><Type ProductCode=\"1\">long</Type>\
         <RxPdo Sm=\"2\"><Index>#x1600</Index>{}</RxPdo><TxPdo Sm=\"3\"><Index>#x1A00</Index>{}</TxPdo>\
         </Device></Devices></Descriptions></EtherCATInfo>",
        entries("#x7000"),
        entries("#x6000")
    )
}

#[test]
fn s63_bytes_beyond_255_bits_arrive_whole_behind_padding_beyond_255_bits() {
    let folder = std::env::temp_dir().join(format!("kadenz-long-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("long.xml"), esi()).unwrap();
    let path = folder.join("ring.toml");
    std::fs::write(&path, "[[device]]\nname = \"d\"\nkind = \"coupler\"\nesi = \"long.xml\"\n").unwrap();
    let mut master = Master::new(Segment::new(Ring::new(&RingFile::read(&path).unwrap(), &path).unwrap()));
    std::fs::remove_dir_all(&folder).unwrap();
    master.bring_up();
    assert_eq!(master.cycle(), Some(3));
    // What a master adds up from the mapping is the length of the sync manager: 300 + 800 + 12 bits.
    let mapped: Vec<Vec<u8>> = (1..=7)
        .map(|sub| match master.upload(0, 0x1600, sub, false) {
            Sdo::Data(data) => data,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(mapped.iter().map(|word| u32::from(word[0])).sum::<u32>(), 1112);
    assert_eq!(mapped.iter().filter(|word| word[2..4] == [0x00, 0x70]).count(), 4 + 1);
    let description = &master.link.segment().ring().devices[0].description;
    assert_eq!(description.managers()[description.manager(Purpose::Outputs).unwrap()].length, 139);
    // Outputs reach the object bit by bit: they begin behind 300 bits.
    let sent: Vec<u8> = (0..LONG).map(|at| at as u8 ^ 0x5A).collect();
    for (at, byte) in sent.iter().enumerate() {
        for bit in 0..8 {
            let place = 300 + 8 * at + bit;
            master.outputs(0)[place / 8] |= (byte >> bit & 1) << (place % 8);
        }
    }
    master.cycles(2);
    assert_eq!(master.upload(0, 0x7000, 1, false), Sdo::Data(sent));
    // And the mapping a master writes back is taken.
    assert_eq!(master.request(0, 2), (2, 0));
    assert_eq!(master.download(0, 0x1600, 0, &[0], false), Sdo::Data(vec![]));
    for (sub, word) in (1..).zip(&mapped) {
        assert_eq!(master.download(0, 0x1600, sub, word, false), Sdo::Data(vec![]), "{sub}");
    }
}
