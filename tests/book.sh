#!/usr/bin/env bash
# Builds the book of docs/book into target/book with mdBook, and checks the links of the resulting pages, then the
# documentation of all crates, without a warning. If mdBook is missing, it is built into target/mdbook first (two minutes
# on one core).
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/setup.sh
version=0.5.4
mdbook=$(command -v mdbook || echo target/mdbook/bin/mdbook)
if [ ! -x "$mdbook" ]; then
    need_packages gcc libc6-dev
    need_rust
    echo "installing: mdBook $version"
    cargo install --quiet --locked --debug --no-default-features --version $version --root target/mdbook mdbook
fi
rm -rf target/book
said=$("$mdbook" build docs/book 2>&1) || { echo "$said"; exit 1; }
# mdBook reports a missing included file without failing.
if grep -E 'WARN|ERROR' <<<"$said"; then exit 1; fi

# "Try it" leads to the page, where that is built (docs/page/build.sh).
mkdir target/book/page
[ ! -e target/page/index.html ] || cp target/page/index.html target/book/page

# Both the file and the anchor of a link must exist.
links=0
wrong=0
while read -r page; do
    while read -r link; do
        # The page is built by itself.
        [ "$link" != page/index.html ] || [ -e target/page/index.html ] || continue
        links=$((links + 1))
        file=${link%%#*}
        file=${file:+$(dirname "$page")/$file}
        file=${file:-$page}
        place=${link#*#}
        if [ ! -e "$file" ] || { [ "$place" != "$link" ] && [ -n "$place" ] && ! grep -q "id=\"$place\"" "$file"; }; then
            echo "$page: nothing at $link"
            wrong=$((wrong + 1))
        fi
    done < <(grep -oE '(href|src)="[^"]+"' "$page" | sed -E 's/^[a-z]+="//; s/"$//' | grep -vE '^[a-z]+:' | sort -u)
done < <(find target/book -name '*.html' ! -name print.html ! -name 404.html ! -path 'target/book/page/*')
echo "the book: $(find target/book -name '*.html' | wc -l) pages in target/book, $links links"
[ "$links" -gt 500 ] && [ "$wrong" -eq 0 ]

need_packages gcc g++ libc6-dev
need_rust
RUSTDOCFLAGS="${RUSTDOCFLAGS:-} -D warnings" cargo doc --quiet --workspace --no-deps
echo "the crates: documentation without warnings"
