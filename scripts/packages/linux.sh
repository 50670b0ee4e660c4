# Parts of the packages for Linux; `deb` and `tarball` read this file.
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# rustup's folder is on PATH only in shells opened after its installation.
PATH="$PATH:${CARGO_HOME:-${HOME:-/nonexistent}/.cargo}/bin"

# Oldest glibc that the program runs with: Ubuntu 22.04 has 2.35, Debian 12 has 2.36.
GLIBC=2.31
TARGET=x86_64-unknown-linux-gnu
program=target/$TARGET/release/gravitile
version=$(sed -n '/^version = /{s/.*"\(.*\)"/\1/p;q}' Cargo.toml)

fail() { echo "package: $*" >&2; exit 1; }

# need PACKAGE...: installs build tools that are missing, as scripts/setup does.
need() {
    local missing=() name root=()
    for name; do
        [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$name" 2>/dev/null) == installed ]] || missing+=("$name")
    done
    ((${#missing[@]})) || return 0
    command -v apt-get >/dev/null || fail "install these first: ${missing[*]}"
    echo "package: will install ${missing[*]}" >&2
    [[ $EUID -eq 0 ]] || root=(sudo)
    "${root[@]}" apt-get update -qq </dev/null >/dev/null || true
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes --no-install-recommends --no-remove \
        -o DPkg::Lock::Timeout=300 "${missing[@]}" </dev/null >/dev/null
}

# Builds the program for any x86-64 CPU and for GLIBC: Zig brings the symbols of every glibc.
build() {
    [[ $(uname -sm) == "Linux x86_64" ]] || fail "packages for Linux are built on x86-64 Linux only"
    scripts/setup
    local tools=target/tools/zig link=target/tools/link
    if ! [[ -x $tools/bin/cargo-zigbuild ]]; then
        python3 -c 'import ensurepip' 2>/dev/null || need python3-venv
        python3 -m venv "$tools"
        "$tools/bin/pip" install --quiet --disable-pip-version-check cargo-zigbuild==0.24.1 ziglang==0.17.1
    fi
    # A folder with nothing but OpenCL's loader: in the system's folder, the linker would also find the system's glibc.
    mkdir -p "$link"
    ln -sf "$(ldconfig -p | sed -n '/libOpenCL\.so\.1 .*x86-64/{s/.* => //p;q}')" "$link/libOpenCL.so"
    env -u CARGO_ENCODED_RUSTFLAGS PATH="$PWD/$tools/bin:$PATH" RUSTFLAGS="-C target-cpu=x86-64 -L $PWD/$link" \
        cargo-zigbuild rustc --release --locked --bin gravitile --target "$TARGET.$GLIBC" -- \
        -C link-arg=-Wl,--allow-shlib-undefined # the loader itself may need a newer glibc
}

# Writes the licences of the crates in the program: each distinct text once, under the names of the crates that have it.
licences() {
    cargo metadata --locked --format-version 1 --filter-platform "$TARGET" | python3 -c '
import json, pathlib, re, sys
data = json.load(sys.stdin)
used, todo = set(), [data["resolve"]["root"]]
edges = {node["id"]: node["deps"] for node in data["resolve"]["nodes"]}
while todo:
    if (crate := todo.pop()) not in used:
        used.add(crate)
        todo += [d["pkg"] for d in edges[crate] if any(kind["kind"] is None for kind in d["dep_kinds"])]
texts = {}
for package in sorted((p for p in data["packages"] if p["id"] in used), key=lambda p: p["name"]):
    name = "{name} {version} ({license})".format(**package)
    for file in sorted(pathlib.Path(package["manifest_path"]).parent.rglob("*")):
        if re.match("licen|copying|notice|ofl|ufl", file.name.lower()) and file.is_file() and file.suffix != ".rs":
            texts.setdefault(file.read_text(errors="replace").strip(), []).append(name)
for text, names in texts.items():
    print("=" * 80, *dict.fromkeys(names), "-" * 80, text, "", sep="\n")
'
}

# share FOLDER: fills a folder `share` with everything but the program itself.
share() {
    local size doc=$1/doc/gravitile
    mkdir -p "$1" "$doc/docs" "$1/man/man1" "$1/bash-completion/completions" "$1/zsh/site-functions" "$1/fish/vendor_completions.d"
    cp -r assets/linux/share/. "$1"
    for size in 48 64 128 256; do
        install -D -m 644 "assets/icons/$size.png" "$1/icons/hicolor/${size}x$size/apps/gravitile.png"
    done
    "$program" man --out "$1/man/man1"
    gzip -9n "$1"/man/man1/*
    "$program" completions bash >"$1/bash-completion/completions/gravitile"
    "$program" completions zsh >"$1/zsh/site-functions/_gravitile"
    "$program" completions fish >"$1/fish/vendor_completions.d/gravitile.fish"
    cp -r README.md CHANGELOG.md assets/scenes "$doc"
    cp docs/*.md "$doc/docs"
    licences | gzip -9n >"$doc/licences-of-crates.gz"
}

# Prints the name and the size of a package.
tell() { echo "$1 ($(stat --format=%s "$1" | numfmt --to=iec-i --suffix=B))"; }
