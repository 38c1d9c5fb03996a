// SPDX-License-Identifier: Apache-2.0
//! Files of a device in a folder of this machine. Names have been checked before: they lead nowhere else.

use super::files::{Usage, MOST_FILES};
use super::Refusal;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Refusal::NotFound,
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Refusal::AccessDenied,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Refusal::DiskFull,
            _ => Refusal::Program,
        }
    }
}

/// The content of a regular file of at most `most` bytes. A link could lead out of the folder, and counts as missing.
pub fn read(folder: &Path, name: &str, most: u64) -> Result<Vec<u8>, Refusal> {
    let path = folder.join(name);
    if !fs::symlink_metadata(&path)?.is_file() {
        return Err(Refusal::NotFound);
    }
    let mut data = Vec::new();
    File::open(path)?.take(most + 1).read_to_end(&mut data)?;
    if data.len() as u64 > most {
        return Err(Refusal::AccessDenied);
    }
    Ok(data)
}

/// The other files in the folder, and whether there is one of this name. Hidden files are not the device's.
pub fn usage(folder: &Path, name: &str) -> Result<Usage, Refusal> {
    let mut usage = Usage::default();
    for entry in fs::read_dir(folder)?.take(2 * MOST_FILES) {
        let entry = entry?;
        let (other, about) = (entry.file_name(), entry.metadata()?);
        if other == name {
            usage.exists = true;
        } else if about.is_file() && !other.as_encoded_bytes().starts_with(b".") {
            usage.files += 1;
            usage.bytes += about.len();
        }
    }
    Ok(usage)
}

/// Writes a file beside its place and moves it there: a reader sees the old one or the new one, whole.
pub fn store(folder: &Path, name: &str, data: &[u8]) -> Result<(), Refusal> {
    let part = part(folder);
    let done = write_new(&part, data).and_then(|()| fs::rename(&part, folder.join(name)));
    if done.is_err() {
        let _ = fs::remove_file(&part);
    }
    Ok(done?)
}

/// Tries whether a file can be written into the folder.
pub fn check(folder: &Path) -> io::Result<()> {
    let part = part(folder);
    write_new(&part, &[])?;
    fs::remove_file(part)
}

/// A hidden name: no request can mean it.
fn part(folder: &Path) -> PathBuf {
    folder.join(format!(".kadenz-segment-{}.part", std::process::id()))
}

/// A file that was not there before: an old part is removed, a link in its place is not followed. Others may read it at
/// most, whatever the umask is.
fn write_new(path: &Path, data: &[u8]) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    OpenOptions::new().write(true).create_new(true).mode(0o644).open(path)?.write_all(data)
}
