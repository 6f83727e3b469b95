// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package blob stores snapshots in a directory or an S3 bucket, which a URL names. It takes
// credentials only from the environment and the files of the AWS SDK, and refuses a URL that
// contains one. It knows nothing about clusters.
package blob

import (
	"errors"
	"fmt"
	"maps"
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
	bucket string // of S3
	prefix string // of S3, without slashes at its ends
	dir    string // of file
	query  url.Values
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

// Provider returns the kind of store, S3 or Local.
func (l Location) Provider() string {
	if l.scheme == "file" {
		return "Local"
	}
	return "S3"
}

// Container returns the bucket. It is empty for a directory.
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
	l.Folder = strings.TrimSuffix("s3://"+l.bucket+"/"+(&url.URL{Path: l.prefix}).EscapedPath(), "/")
	return l
}

// parse checks a URL. No error repeats a part of it that may be a credential.
func parse(text string) (Location, error) {
	u, err := url.Parse(text)
	if err != nil {
		return Location{}, errors.New("the URL of the store can't be parsed: use file:///DIRECTORY or s3://BUCKET/PREFIX")
	}
	if u.User != nil {
		return Location{}, fmt.Errorf("the URL has a user or password before the host: remove it, and put the credentials into the environment (%s)", credentials)
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
	case "s3":
		if u.Host == "" || u.Port() != "" {
			return Location{}, errors.New("the URL has no valid bucket: use s3://BUCKET/PREFIX, with ?endpoint=https://HOST:PORT for a store that is not AWS")
		}
		l.bucket, l.prefix = u.Host, strings.TrimPrefix(u.Path, "/")
	default:
		return Location{}, unsupported(u.Scheme)
	}
	if slices.Contains(strings.Split(u.Path, "/"), "..") || strings.Contains(u.Path, `\`) {
		return Location{}, errors.New(`the path of the URL contains .. or \: write it without`)
	}
	return l, nil
}

func unsupported(scheme string) error {
	switch scheme {
	case "gs":
		return errors.New("gs:// is not supported; Google Cloud Storage also serves the S3 API, with an HMAC key: s3://BUCKET/PREFIX?endpoint=https://storage.googleapis.com")
	case "azblob":
		return errors.New("azblob:// is not supported: save to a file, and copy it with the tools of Azure")
	}
	return fmt.Errorf("a store has the scheme file or s3, not %q", scheme)
}

// credentials are the variables from which the AWS SDK takes them.
const credentials = "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY" //nolint:gosec // the names of variables

// parameters are those that a URL of S3 may have. kmskeyid names a key, and is not one.
var parameters = []string{
	"accelerate", "anonymous", "dualstack", "endpoint", "fips", "kmskeyid", "profile", "region", "request_checksum_calculation",
	"response_checksum_validation", "role", "ssetype", "use_path_style",
}

// secretParts are parts of the names of parameters with credentials.
var secretParts = []string{"secret", "token", "sig", "password", "key", "credential"}

func (l Location) checkParameters() error {
	for _, name := range slices.Sorted(maps.Keys(l.query)) {
		known := l.scheme == "s3" && slices.Contains(parameters, name)
		secret := slices.ContainsFunc(secretParts, func(word string) bool { return strings.Contains(strings.ToLower(name), word) })
		switch {
		case secret && !known:
			return fmt.Errorf("the parameter %q of the URL looks like a credential: remove it, and put the credentials into the environment (%s)", name, credentials)
		case !known && l.scheme == "file":
			return fmt.Errorf("the URL of a directory has no parameters: remove %q", name)
		case !known && l.scheme == "s3":
			return fmt.Errorf("the URL has the unknown parameter %q; S3 has %s", name, strings.Join(parameters, ", "))
		case name == "endpoint":
			if err := checkEndpoint(l.query.Get(name)); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkEndpoint(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("the endpoint of the URL must be https://HOST:PORT or http://HOST:PORT")
	}
	if u.User != nil {
		return fmt.Errorf("the endpoint of the URL has a user or password before the host: remove it, and put the credentials into the environment (%s)", credentials)
	}
	return nil
}
