// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package krew makes the manifest by which krew installs the plugin, from
// archives that are there. It builds nothing and knows no address of its own.
package krew

import (
	"bytes"
	_ "embed" // the template
	"fmt"
	"text/template"
)

// Name is the plugin's name in krew; the manifest's file must have it too.
const Name = "etcd"

// Release is what a manifest says of one version.
type Release struct {
	// Version is a semantic version with its v.
	Version  string
	Archives []Archive
}

// Archive is the plugin for one platform.
type Archive struct {
	OS, Arch string // as Go names them
	URI      string // where krew downloads it, .tar.gz or .zip
	SHA256   string // of the archive, in hexadecimal
	Bin      string // the program's path in the archive
}

//go:embed etcd.yaml.tmpl
var text string

var manifest = template.Must(template.New("etcd.yaml.tmpl").Option("missingkey=error").Parse(text))

// Manifest is the content of the file Name + ".yaml".
func Manifest(r Release) ([]byte, error) {
	var out bytes.Buffer
	if err := manifest.Execute(&out, r); err != nil {
		return nil, fmt.Errorf("render krew's manifest of %s: %w", r.Version, err)
	}
	return out.Bytes(), nil
}
