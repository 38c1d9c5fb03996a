// SPDX-License-Identifier: Apache-2.0
//! The files of a device: which names it knows, who may read and write them, and where they are kept.

use super::{folder, Refusal};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Longest name of a file, bytes: what a file system takes.
const LONGEST_NAME: usize = 255;
/// Files a device keeps at most.
pub(super) const MOST_FILES: usize = 1000;

/// In which states files are read and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum States {
    /// Wherever there is a mailbox.
    Any,
    /// In bootstrap alone: elsewhere error 0x8008.
    Bootstrap,
    /// Everywhere but in bootstrap: there error 0x8009.
    NotBootstrap,
}

/// Settings of a device's files.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FileSettings {
    /// Where files are kept; absent: in memory, until the segment ends.
    pub folder: Option<PathBuf>,
    /// Password that a request has to name; absent: any will do.
    pub password: Option<u32>,
    /// Space for all files together, bytes.
    pub space_bytes: u32,
    /// States in which files are accessible.
    pub states: States,
    /// Files may be written.
    pub writable: bool,
    /// A file may be written that exists already.
    pub overwrite: bool,
}

impl Default for FileSettings {
    fn default() -> Self {
        Self {
            folder: None,
            password: None,
            space_bytes: 16 << 20,
            states: States::Any,
            writable: true,
            overwrite: true,
        }
    }
}

/// The files of a device. As in a flash memory, they outlive a loss of power.
#[derive(Debug, Default)]
pub struct Files {
    settings: FileSettings,
    /// Files without a folder.
    kept: BTreeMap<String, Vec<u8>>,
}

impl Files {
    /// Files of a device with these settings; a folder is relative to `base`.
    pub fn new(settings: FileSettings, base: &Path) -> Self {
        let folder = settings.folder.as_ref().map(|folder| base.join(folder));
        Self { settings: FileSettings { folder, ..settings }, kept: BTreeMap::new() }
    }

    /// Where they are kept; `None` for memory.
    pub fn folder(&self) -> Option<&Path> {
        self.settings.folder.as_deref()
    }

    /// Tries whether the folder takes a file.
    pub fn check(&self) -> io::Result<()> {
        match self.folder() {
            Some(folder) if self.settings.writable => folder::check(folder),
            _ => Ok(()),
        }
    }

    /// The content of a file.
    pub fn read(&self, name: &[u8], password: u32, in_boot: bool) -> Result<Vec<u8>, Refusal> {
        let name = self.admit(name, password, in_boot)?;
        match self.folder() {
            Some(folder) => folder::read(folder, name, u64::from(self.settings.space_bytes)),
            None => self.kept.get(name).cloned().ok_or(Refusal::NotFound),
        }
    }

    /// The name of a file to be written, and how many bytes of it there is space for.
    pub fn open(&self, name: &[u8], password: u32, in_boot: bool) -> Result<(String, usize), Refusal> {
        let name = self.admit(name, password, in_boot)?;
        if !self.settings.writable {
            return Err(Refusal::AccessDenied);
        }
        let others = match self.folder() {
            Some(folder) => folder::usage(folder, name)?,
            None => {
                let others = || self.kept.iter().filter(|(known, _)| *known != name);
                Usage {
                    files: others().count(),
                    bytes: others().map(|(_, data)| data.len() as u64).sum(),
                    exists: self.kept.contains_key(name),
                }
            }
        };
        if others.exists && !self.settings.overwrite {
            return Err(Refusal::Exists);
        }
        let space = u64::from(self.settings.space_bytes).saturating_sub(others.bytes);
        if space == 0 || others.files >= MOST_FILES {
            return Err(Refusal::DiskFull);
        }
        Ok((name.to_owned(), usize::try_from(space).unwrap_or(usize::MAX)))
    }

    /// Keeps a file, in place of one of the same name. The old one stays until the new one is complete.
    pub fn store(&mut self, name: String, data: Vec<u8>) -> Result<(), Refusal> {
        if let Some(folder) = self.folder() {
            return folder::store(folder, &name, &data);
        }
        self.kept.insert(name, data);
        Ok(())
    }

    /// The name of a request that is allowed.
    fn admit<'a>(&self, name: &'a [u8], password: u32, in_boot: bool) -> Result<&'a str, Refusal> {
        match self.settings.states {
            States::Bootstrap if !in_boot => return Err(Refusal::BootstrapOnly),
            States::NotBootstrap if in_boot => return Err(Refusal::NotInBootstrap),
            _ => {}
        }
        if self.settings.password.is_some_and(|wanted| wanted != password) {
            return Err(Refusal::Password);
        }
        plain(name).ok_or(Refusal::Illegal)
    }
}

/// What else is kept.
#[derive(Debug, Default)]
pub(super) struct Usage {
    /// Number of the other files, and their bytes.
    pub files: usize,
    pub bytes: u64,
    /// A file of that name is there.
    pub exists: bool,
}

/// A name that stays in its folder: text without a path, not hidden.
fn plain(name: &[u8]) -> Option<&str> {
    let name = std::str::from_utf8(name).ok()?;
    let has_path = name.chars().any(|letter| letter.is_control() || matches!(letter, '/' | '\\'));
    (!name.is_empty() && name.len() <= LONGEST_NAME && !name.starts_with('.') && !has_path).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(settings: FileSettings) -> Files {
        let mut files = Files::new(settings, Path::new(""));
        files.store("old".into(), vec![1, 2, 3]).unwrap();
        files
    }

    #[test]
    fn names_that_could_leave_a_folder_are_illegal() {
        let files = files(FileSettings::default());
        let long = [b'a'; 256];
        for name in [
            &b""[..],
            b".",
            b"..",
            b"../old",
            b"/etc/passwd",
            b"a/b",
            b"a\\b",
            b".old",
            b"old\0",
            b"a\nb",
            b"\xff\xfe",
            &long,
        ] {
            assert_eq!(files.read(name, 0, false), Err(Refusal::Illegal), "{}", name.escape_ascii());
            assert_eq!(files.open(name, 0, false), Err(Refusal::Illegal), "{}", name.escape_ascii());
        }
        for name in ["firmware v1.2.efw", "Ü", "a..b"] {
            assert_eq!(files.read(name.as_bytes(), 0, false), Err(Refusal::NotFound), "{name}");
        }
    }

    #[test]
    fn every_setting_refuses_by_its_own_code() {
        let default = FileSettings::default;
        let open =
            |settings, password, in_boot| files(settings).open(b"old", password, in_boot).map(|(_, space)| space);
        assert_eq!(open(default(), 7, true), Ok(16 << 20), "what is replaced makes room");
        let by_password = FileSettings { password: Some(0xDEAD_BEEF), ..default() };
        assert_eq!(open(by_password.clone(), 0xDEAD_BEEF, false), Ok(16 << 20));
        assert_eq!(open(by_password, 0, false), Err(Refusal::Password));
        assert_eq!(open(FileSettings { writable: false, ..default() }, 0, false), Err(Refusal::AccessDenied));
        assert_eq!(open(FileSettings { overwrite: false, ..default() }, 0, false), Err(Refusal::Exists));
        let in_boot = FileSettings { states: States::Bootstrap, ..default() };
        assert_eq!(open(in_boot.clone(), 0, false), Err(Refusal::BootstrapOnly));
        assert!(open(in_boot, 0, true).is_ok());
        assert_eq!(
            open(FileSettings { states: States::NotBootstrap, ..default() }, 0, true),
            Err(Refusal::NotInBootstrap)
        );
        let full = files(FileSettings { space_bytes: 3, ..default() });
        assert_eq!(full.open(b"new", 0, false), Err(Refusal::DiskFull));
        assert_eq!(full.open(b"old", 0, false), Ok(("old".into(), 3)));
    }

    #[test]
    fn no_more_files_are_kept_than_a_device_has_place_for() {
        let mut files = Files::default();
        for number in 0..MOST_FILES {
            files.store(number.to_string(), Vec::new()).unwrap();
        }
        assert_eq!(files.open(b"more", 0, false), Err(Refusal::DiskFull));
        assert!(files.open(b"7", 0, false).is_ok());
    }
}
