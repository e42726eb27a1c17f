#!/usr/bin/env bash
# Packs the extension as skrymir-VERSION.vsix, which editors install from the file; needs only Python.
#
#   bash pack.sh [FOLDER]     writes it into a folder, this one if none is given
set -euo pipefail
cd "$(dirname "$0")"
python3 - "${1:-.}" ../../../LICENSE-MIT <<'PY'
import json, pathlib, sys, zipfile
from xml.sax.saxutils import escape, quoteattr

folder, licence = map(pathlib.Path, sys.argv[1:])
about = json.loads(pathlib.Path("package.json").read_text())
types = {".json": "application/json", ".js": "application/javascript", ".md": "text/markdown", ".txt": "text/plain",
         ".vsixmanifest": "text/xml"}
content = '<?xml version="1.0" encoding="utf-8"?>\n' \
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">' + "".join(
        f'<Default Extension="{ending}" ContentType="{kind}"/>' for ending, kind in types.items()) + "</Types>\n"
manifest = f"""<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id={quoteattr(about["name"])} Version={quoteattr(about["version"])} Publisher={quoteattr(about["publisher"])}/>
    <DisplayName>{escape(about["displayName"])}</DisplayName>
    <Description xml:space="preserve">{escape(about["description"])}</Description>
    <Categories>{escape(",".join(about["categories"]))}</Categories>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value={quoteattr(about["engines"]["vscode"])}/>
    </Properties>
    <License>extension/LICENSE.txt</License>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt" Addressable="true"/>
  </Assets>
</PackageManifest>
"""
files = [("[Content_Types].xml", content), ("extension.vsixmanifest", manifest)]
files += [(f"extension/{name}", pathlib.Path(name).read_text()) for name in ("package.json", "extension.js", "README.md")]
files.append(("extension/LICENSE.txt", licence.read_text()))
out = folder / f'{about["name"]}-{about["version"]}.vsix'
with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
    for name, text in files:
        # The same bytes on every machine.
        archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), text, zipfile.ZIP_DEFLATED)
print(out)
PY
