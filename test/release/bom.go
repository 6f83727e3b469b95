// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"encoding/base64"
	"encoding/hex"
	"io"
	"runtime/debug"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// writeBOM writes what a program is made of, as CycloneDX in JSON: the modules
// that the Go command linked into it and no others.
func writeBOM(path string, p program) error {
	return create(path, func(w io.Writer) error {
		return cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom(p))
	})
}

// bom returns a program's bill of materials. Its time is the commit's, and its number
// comes from the program: two of the same program are equal.
func bom(p program) *cdx.BOM {
	subject := component(cdx.ComponentTypeApplication, module+"/cmd/"+p.name, p.version, purl(module, p.version)+"#cmd/"+p.name)
	subject.Supplier = &cdx.OrganizationalEntity{Name: "The kubectl-etcd authors"}
	subject.Licenses = &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}}
	subject.Properties = &[]cdx.Property{
		{Name: "go:platform", Value: p.platform.String()},
		{Name: "vcs:revision", Value: p.revision},
	}
	toolchain := strings.TrimPrefix(p.info.GoVersion, "go")
	parts := []cdx.Component{component(cdx.ComponentTypeLibrary, "std", toolchain, "pkg:golang/stdlib@"+toolchain)}
	for _, m := range p.info.Deps {
		parts = append(parts, linked(m))
	}
	var refs []string
	for _, c := range parts {
		refs = append(refs, c.BOMRef)
	}
	b := cdx.NewBOM()
	b.SerialNumber = "urn:uuid:" + uuid.NewSHA1(uuid.NameSpaceURL, []byte(subject.PackageURL+" "+p.platform.String()+" "+p.revision+" "+toolchain)).String()
	b.Metadata = &cdx.Metadata{
		Timestamp: p.date.UTC().Format(time.RFC3339),
		Authors:   &[]cdx.OrganizationalContact{{Name: "The kubectl-etcd authors"}},
		Component: &subject,
	}
	b.Components = &parts
	b.Dependencies = &[]cdx.Dependency{{Ref: subject.BOMRef, Dependencies: &refs}}
	return b
}

// linked returns a module in the program; what replaced it counts.
func linked(m *debug.Module) cdx.Component {
	if m.Replace != nil {
		m = m.Replace
	}
	c := component(cdx.ComponentTypeLibrary, m.Path, m.Version, purl(m.Path, m.Version))
	// The sum of go.sum is a sha256 over the module's files.
	if raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:")); err == nil && len(raw) == 32 {
		c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(raw)}}
	}
	return c
}

func component(kind cdx.ComponentType, name, version, purl string) cdx.Component {
	return cdx.Component{BOMRef: purl, Type: kind, Name: name, Version: version, PackageURL: purl}
}

// purl returns a module's package URL.
func purl(path, version string) string {
	return "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
}
