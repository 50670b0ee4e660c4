# What all packages share.
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# rustup's folder is on PATH only in shells opened after its installation.
PATH="$PATH:${CARGO_HOME:-${HOME:-/nonexistent}/.cargo}/bin"

version=$(sed -n '/^version = /{s/.*"\(.*\)"/\1/p;q}' Cargo.toml)

# The same commit gives the same packages: their files carry the time of the commit.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}

fail() { echo "${0##*/}: $*" >&2; exit 1; }

# Folders of this machine that rustc and the linker may name in a program, in messages of panics for example.
find_folders() {
    sysroot=$(rustc --print sysroot)
    cargo_home=${CARGO_HOME:-$HOME/.cargo}
}

# rust_flags FLAG...: sets the flags for rustc, and hides the folders of this machine.
rust_flags() {
    find_folders
    local IFS=$'\x1f' flags
    flags=("$@" "--remap-path-prefix=$sysroot=/rust" "--remap-path-prefix=$cargo_home=/cargo" "--remap-path-prefix=$PWD=/gravitile")
    export CARGO_ENCODED_RUSTFLAGS="${flags[*]}"
}

# refuse_paths PROGRAM: fails if the program names a folder of this machine.
refuse_paths() {
    find_folders
    ! grep --text --only-matching --fixed-strings -e "$sysroot/" -e "$cargo_home/" -e "$HOME/" -e "$PWD/" "$1" | sort | uniq -c ||
        fail "$1 contains the paths above, which exist only on this machine"
}

# licences TARGET: writes the licences of the crates in the program: each distinct text once, under the names of the crates that have it.
licences() {
    cargo metadata --locked --format-version 1 --filter-platform "$1" | python3 -c '
import json, pathlib, re, sys
data = json.load(sys.stdin)
used, todo = set(), [data["resolve"]["root"]]
edges = {node["id"]: node["deps"] for node in data["resolve"]["nodes"]}
while todo:
    if (crate := todo.pop()) not in used:
        used.add(crate)
        todo += [d["pkg"] for d in edges[crate] if any(kind["kind"] is None for kind in d["dep_kinds"])]
used.remove(data["resolve"]["root"])
print("Licences of the crates in the program. The source of each crate is at https://crates.io/crates/NAME.\n")
texts = {}
for package in sorted((p for p in data["packages"] if p["id"] in used), key=lambda p: p["name"]):
    name = "{name} {version} ({license})".format(**package)
    files = [
        file for file in sorted(pathlib.Path(package["manifest_path"]).parent.rglob("*"))
        if re.match("licen|copying|notice|ofl|ufl", file.name.lower()) and file.is_file() and file.suffix != ".rs"
    ]
    for text in [file.read_text(errors="replace").strip() for file in files] or ["(the crate has no file with its licence)"]:
        texts.setdefault(text, []).append(name)
for text, names in texts.items():
    print("=" * 80, *dict.fromkeys(names), "-" * 80, text, "", sep="\n")
'
}

# Prints the name and the size of a package.
tell() { echo "$1 ($(stat --format=%s "$1" | numfmt --to=iec-i --suffix=B))"; }

# Copies the documents without their pictures, and the scenes and lessons that they name, into the folder $1.
documents() {
    mkdir -p "$1/docs" "$1/assets"
    cp README.md CHANGELOG.md "$1"
    cp docs/*.md "$1/docs"
    cp -r assets/scenes assets/lessons "$1/assets"
}
