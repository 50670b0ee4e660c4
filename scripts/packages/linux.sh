# Parts of the packages for Linux; `deb` and `tarball` read this file.
# shellcheck shell=bash
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# Oldest glibc that the program runs with: Ubuntu 22.04 has 2.35, Debian 12 has 2.36.
GLIBC=2.31
TARGET=x86_64-unknown-linux-gnu
program=target/$TARGET/release/gravitile

# Builds the program for any x86-64 CPU and for GLIBC: Zig brings the symbols of every glibc.
build() {
    [[ $(uname -sm) == "Linux x86_64" ]] || fail "packages for Linux can be built only on x86-64 Linux"
    scripts/setup --packages
    local tools=target/tools/zig link=target/tools/link
    [[ -x $tools/bin/pip ]] || python3 -m venv --clear "$tools"
    # Does nothing if these versions are installed, and replaces others.
    "$tools/bin/pip" install --quiet --disable-pip-version-check cargo-zigbuild==0.24.1 ziglang==0.17.1
    # A folder with nothing but OpenCL's loader: in the system's folder, the linker would also find the system's glibc.
    mkdir -p "$link"
    local loader
    # sed reads to the end: ldconfig would fail if the pipe closed before.
    loader=$(PATH="$PATH:/usr/sbin:/sbin" ldconfig -p | sed -n '/libOpenCL\.so\.1 .*x86-64/s/.* => //p')
    loader=${loader%%$'\n'*}
    [[ -e $loader ]] || fail "the OpenCL loader (libOpenCL.so.1) is missing; run scripts/setup"
    ln -sf "$loader" "$link/libOpenCL.so"
    rust_flags -C target-cpu=x86-64
    PATH="$PWD/$tools/bin:$PATH" cargo-zigbuild rustc --release --locked --bin gravitile --target "$TARGET.$GLIBC" -- \
        -L "native=$link" -C link-arg=-Wl,--allow-shlib-undefined # the loader itself may need a newer glibc
    refuse_paths "$program"
}

# share FOLDER: fills a folder `share` with everything but the program itself.
share() {
    local size doc=$1/doc/gravitile
    mkdir -p "$1" "$1/man/man1" "$1/bash-completion/completions" "$1/zsh/site-functions" "$1/fish/vendor_completions.d"
    cp -r assets/linux/share/. "$1"
    # The closed entries of the CHANGELOG are the releases.
    sed -n 's|^## \[\(.*\)\] - \(.*\)|    <release version="\1" date="\2"/>|p' CHANGELOG.md |
        sed -i -e '/<releases>/r /dev/stdin' "$1/metainfo/org.gravitile.gravitile.metainfo.xml"
    for size in 48 64 128 256; do
        install -D -m 644 "assets/icons/$size.png" "$1/icons/hicolor/${size}x$size/apps/gravitile.png"
    done
    "$program" man --out "$1/man/man1"
    gzip -9n "$1"/man/man1/*
    "$program" completions bash >"$1/bash-completion/completions/gravitile"
    "$program" completions zsh >"$1/zsh/site-functions/_gravitile"
    "$program" completions fish >"$1/fish/vendor_completions.d/gravitile.fish"
    documents "$doc"
    licences "$TARGET" | gzip -9n >"$doc/licences-of-crates.gz"
    chmod -R u=rwX,go=rX "$1"
}
