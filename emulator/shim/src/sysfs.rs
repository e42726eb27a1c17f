//! The folder's files: device nodes, their sysfs entries, and their udev records (docs/spec/mali/kernel.md, section 1).
//! Links are like the kernel's, so that following them stays within these files.

use crate::input::Device;
use crate::options::Hardware;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

/// A device with one node.
struct Part<'a> {
    /// Its folder name.
    name: &'a str,
    /// Its class.
    class: &'a str,
    /// The node's folder below `/dev`.
    folder: &'a str,
    /// The node's name.
    node: &'a str,
    /// The node's number.
    number: (u32, u32),
    /// The node's uevent, besides the number.
    kind: &'a str,
    /// The device's uevent.
    uevent: &'a str,
    /// The node's udev properties.
    properties: &'a [&'a str],
}

/// The GPU.
pub(crate) fn gpu(folder: &Path, node: &str, hardware: Hardware) -> io::Result<()> {
    let number = match hardware {
        Hardware::Mali400 => 400,
        Hardware::Mali450 => 450,
    };
    let uevent = format!(
        "DRIVER=lima\nOF_NAME=gpu\nOF_FULLNAME=/soc/mali\nOF_COMPATIBLE_0=arm,mali-{number}\nOF_COMPATIBLE_N=1\n"
    );
    write(
        folder,
        &Part {
            name: "mali",
            class: "drm",
            folder: "dri",
            node,
            number: (226, 128),
            kind: "DEVTYPE=drm_minor\n",
            uevent: &uevent,
            properties: &[],
        },
    )
}

/// The display, like that of a board with an Allwinner chip.
pub(crate) fn display(folder: &Path, node: &str) -> io::Result<()> {
    write(
        folder,
        &Part {
            name: "display",
            class: "drm",
            folder: "dri",
            node,
            number: (226, 0),
            kind: "DEVTYPE=drm_minor\n",
            uevent: "DRIVER=sun4i-drm\nOF_NAME=display-engine\nOF_FULLNAME=/display-engine\n\
                     OF_COMPATIBLE_0=allwinner,sun4i-a10-display-engine\nOF_COMPATIBLE_N=1\n",
            properties: &[],
        },
    )
}

/// A keyboard or a pointer.
pub(crate) fn input(folder: &Path, node: &str, device: &Device, seat: &str) -> io::Result<()> {
    let seat = format!("ID_SEAT={seat}");
    let mut properties = vec![seat.as_str(), "ID_INPUT=1"];
    properties.extend(device.properties());
    write(
        folder,
        &Part {
            name: &format!("skrymir-{node}"),
            class: "input",
            folder: "input",
            node,
            number: (13, device.minor()),
            kind: "",
            uevent: "",
            properties: &properties,
        },
    )
}

/// The machine's own device classes remain visible.
pub(crate) fn others(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir("/sys/class").into_iter().flatten().flatten() {
        let here = folder.join("sys/class").join(entry.file_name());
        if !here.exists() {
            symlink(entry.path(), here)?;
        }
    }
    Ok(())
}

fn write(folder: &Path, part: &Part<'_>) -> io::Result<()> {
    let Part { name, class, node, .. } = part;
    let (major, minor) = part.number;
    let device = folder.join("sys/devices").join(name);
    let object = device.join(class).join(node);
    let nodes = folder.join("dev").join(part.folder);
    let classes = folder.join("sys/class").join(class);
    let numbers = folder.join("sys/dev/char");
    let bus = folder.join("sys/bus/platform/devices");
    let known = folder.join("run/udev/data");
    for directory in [&object, &nodes, &classes, &numbers, &bus, &known] {
        fs::create_dir_all(directory)?;
    }
    fs::write(nodes.join(node), "")?;
    fs::write(device.join("uevent"), part.uevent)?;
    symlink("../../bus/platform", device.join("subsystem"))?;
    symlink(format!("../../../devices/{name}"), bus.join(name))?;
    let path = format!("{}/{node}", part.folder);
    fs::write(
        object.join("uevent"),
        format!("MAJOR={major}\nMINOR={minor}\nDEVNAME={path}\n{}", part.kind),
    )?;
    fs::write(object.join("dev"), format!("{major}:{minor}\n"))?;
    symlink(format!("../../../{name}"), object.join("device"))?;
    symlink(format!("../../../../class/{class}"), object.join("subsystem"))?;
    let target = format!("../../devices/{name}/{class}/{node}");
    symlink(&target, classes.join(node))?;
    symlink(&target, numbers.join(format!("{major}:{minor}")))?;
    let properties: String = part.properties.iter().map(|line| format!("E:{line}\n")).collect();
    // Initialisation time; the records' version.
    fs::write(
        known.join(format!("c{major}:{minor}")),
        format!("I:1\n{properties}V:1\n"),
    )
}
