// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package blob stores snapshots in a directory, or in a bucket of S3, Google Cloud Storage or Azure, which a
// URL names. It takes credentials only from where the SDK of the store finds them, and refuses a URL
// that contains one. It knows nothing about clusters.
package blob

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Location is a folder of snapshots, or one snapshot in it.
type Location struct {
	// Folder is the URL of the folder, without a slash at its end and without parameters.
	Folder string
	// Name is the name of the snapshot in the folder. It is empty for a folder.
	Name string

	scheme string
	bucket string // the container, for Azure
	prefix string // in the bucket, without slashes at its ends
	dir    string // of file
	query  url.Values
	roots  *x509.CertPool // nil for the system's
}

// IsURL reports whether an argument is a URL and not the name of a file.
func IsURL(text string) bool {
	scheme, _, found := strings.Cut(text, "://")
	return found && scheme != "" && !strings.ContainsAny(scheme, `/\.`)
}

// ParseObject parses the URL of a snapshot. Without a name behind the last slash, the result is
// a folder.
func ParseObject(text string) (Location, error) {
	l, err := parse(text)
	if err != nil {
		return Location{}, err
	}
	at := &l.prefix
	if l.scheme == "file" {
		at = &l.dir
	}
	folder, name := path.Split(*at)
	if name == "" {
		return l.clean(), nil
	}
	*at, l.Name = folder, name
	return l.clean(), nil
}

// ParseFolder parses the URL of a folder. A slash at its end has no meaning.
func ParseFolder(text string) (Location, error) {
	l, err := parse(text)
	return l.clean(), err
}

// At returns the location of a snapshot in the same folder.
func (l Location) At(name string) Location {
	l.Name = name
	return l
}

// String returns the URL, which contains no credentials.
func (l Location) String() string {
	text := l.Folder
	if l.Name != "" {
		text += "/" + l.Name
	}
	if len(l.query) > 0 {
		text += "?" + l.query.Encode()
	}
	return text
}

// FolderURL returns the URL of the folder with a slash at its end, which ParseObject reads as a folder.
func (l Location) FolderURL() string {
	text := l.Folder + "/"
	if len(l.query) > 0 {
		text += "?" + l.query.Encode()
	}
	return text
}

// File returns the path on this machine, or false if the location is a bucket.
func (l Location) File() (string, bool) {
	if l.scheme != "file" {
		return "", false
	}
	return filepath.Join(localPath(l.dir), l.Name), true
}

// Provider returns the kind of store: Local, S3, GCS or ABS.
func (l Location) Provider() string {
	p, _ := providerOf(l.scheme)
	return p.name
}

// Credentials returns from where the credentials of the store come, for a message.
func (l Location) Credentials() string {
	p, _ := providerOf(l.scheme)
	return p.credentials
}

// Container returns the bucket, or the container of Azure. It is empty for a directory.
func (l Location) Container() string { return l.bucket }

// Prefix returns the folder in the bucket, or the directory.
func (l Location) Prefix() string {
	if l.scheme == "file" {
		return l.dir
	}
	return l.prefix
}

func (l Location) clean() Location {
	if l.scheme == "file" {
		l.dir = path.Clean(l.dir)
		l.Folder = "file://" + strings.TrimSuffix((&url.URL{Path: l.dir}).EscapedPath(), "/")
		return l
	}
	l.prefix = strings.Trim(l.prefix, "/")
	l.Folder = strings.TrimSuffix(l.scheme+"://"+l.bucket+"/"+(&url.URL{Path: l.prefix}).EscapedPath(), "/")
	return l
}

// parse checks a URL. No error repeats a part of it that may be a credential.
func parse(text string) (Location, error) {
	u, err := url.Parse(text)
	if err != nil {
		return Location{}, errors.New("the URL of the store can't be parsed: use " + forms)
	}
	if u.User != nil {
		return Location{}, fmt.Errorf("the URL has a user or password before the host: remove it, and put the credentials into the environment (%s)", credentialsOf(u.Scheme))
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil || u.Fragment != "" {
		return Location{}, errors.New("the parameters of the URL can't be parsed: write NAME=VALUE with & between them")
	}
	l := Location{scheme: u.Scheme, query: query}
	if err := l.checkParameters(); err != nil {
		return Location{}, err
	}
	switch u.Scheme {
	case "file":
		if u.Host != "" && u.Host != "localhost" || !path.IsAbs(u.Path) {
			return Location{}, errors.New("the URL of a directory has three slashes and an absolute path: file:///DIRECTORY")
		}
		l.dir = u.Path
	default:
		p, known := providerOf(u.Scheme)
		if !known {
			return Location{}, fmt.Errorf("a store has the scheme file, s3, gs or azblob, not %q", u.Scheme)
		}
		if u.Host == "" || strings.Contains(u.Host, ":") {
			return Location{}, fmt.Errorf("the URL has no valid bucket: use %s", p.form)
		}
		l.bucket, l.prefix = u.Host, strings.TrimPrefix(u.Path, "/")
	}
	if slices.Contains(strings.Split(u.Path, "/"), "..") || strings.Contains(u.Path, `\`) {
		return Location{}, errors.New(`the path of the URL contains .. or \: write it without`)
	}
	return l, nil
}
