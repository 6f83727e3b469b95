// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package krew renders the manifest with which krew installs the plugin. It doesn't build the
// archives and contains no addresses.
package krew

import (
	"bytes"
	_ "embed" // the template
	"fmt"
	"text/template"
)

// Name is the plugin's name in krew, and the base name of the manifest's file.
const Name = "etcd"

// Release is the content of a manifest for one version.
type Release struct {
	// Version is a semantic version with the prefix v.
	Version  string
	Archives []Archive
}

// Archive is the archive of the plugin for one platform.
type Archive struct {
	OS, Arch string // as Go names them
	URI      string // of the download, .tar.gz or .zip
	SHA256   string // of the archive, in hexadecimal
	Bin      string // the program's path in the archive
}

//go:embed etcd.yaml.tmpl
var text string

var manifest = template.Must(template.New("etcd.yaml.tmpl").Option("missingkey=error").Parse(text))

// Manifest returns the content of the file Name + ".yaml".
func Manifest(r Release) ([]byte, error) {
	var out bytes.Buffer
	if err := manifest.Execute(&out, r); err != nil {
		return nil, fmt.Errorf("render krew manifest of %s: %w", r.Version, err)
	}
	return out.Bytes(), nil
}
