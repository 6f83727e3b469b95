// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/krew"
)

// entry is one file in an archive or in the image.
type entry struct {
	name string
	mode int64
	from string // the file that has the content
	data string // the content, where from is empty
}

// archive writes the plugin's archive for its platform.
func (o Options) archive(p program) (krew.Archive, error) {
	entries := []entry{
		{name: "LICENSE", mode: 0o644, from: filepath.Join(o.Source, "LICENSE")},
		{name: p.file(), mode: 0o755, from: p.path},
	}
	name, write := p.title()+".tar.gz", writeTarball
	if p.platform.OS == "windows" {
		name, write = p.title()+".zip", writeZip
	}
	path := filepath.Join(o.Out, name)
	if err := create(path, func(w io.Writer) error { return write(w, entries, p.date) }); err != nil {
		return krew.Archive{}, err
	}
	sum, err := checksum(path)
	if err != nil {
		return krew.Archive{}, err
	}
	download := o.Download
	if download == "" {
		download = "https://" + module + "/releases/download/" + p.version
	}
	return krew.Archive{OS: p.platform.OS, Arch: p.platform.Arch, URI: download + "/" + name, SHA256: sum, Bin: p.file()}, nil
}

// create writes a file, and takes an error of its last bytes for one.
func create(path string, write func(io.Writer) error) error {
	f, err := os.Create(path) //nolint:gosec // the caller chooses the path
	if err != nil {
		return err
	}
	err = write(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func writeTarball(w io.Writer, entries []entry, date time.Time) error {
	// Its header has neither a name nor a time.
	packed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := writeTar(packed, entries, date); err != nil {
		return err
	}
	return packed.Close()
}

// writeTar writes a tar without the user, the machine and the time of its creation.
func writeTar(w io.Writer, entries []entry, date time.Time) error {
	archive := tar.NewWriter(w)
	for _, e := range entries {
		err := e.open(func(content io.Reader, size int64) error {
			header := &tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: e.mode, Size: size, ModTime: date, Format: tar.FormatUSTAR}
			if err := archive.WriteHeader(header); err != nil {
				return err
			}
			_, err := io.Copy(archive, content)
			return err
		})
		if err != nil {
			return err
		}
	}
	return archive.Close()
}

func writeZip(w io.Writer, entries []entry, date time.Time) error {
	archive := zip.NewWriter(w)
	for _, e := range entries {
		err := e.open(func(content io.Reader, _ int64) error {
			header := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: date.UTC()}
			header.SetMode(os.FileMode(e.mode)) //nolint:gosec // a file's mode
			part, err := archive.CreateHeader(header)
			if err != nil {
				return err
			}
			_, err = io.Copy(part, content)
			return err
		})
		if err != nil {
			return err
		}
	}
	return archive.Close()
}

// open calls use with the entry's content.
func (e entry) open(use func(io.Reader, int64) error) error {
	if e.from == "" {
		return use(strings.NewReader(e.data), int64(len(e.data)))
	}
	f, err := os.Open(e.from)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was read
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return use(f, info.Size())
}

// checksum returns a file's sha256 in hexadecimal.
func checksum(path string) (string, error) {
	f, err := os.Open(path) //nolint:gosec // a file of this package's
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was read
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// writeChecksums lists every file in dir, as sha256sum --check reads it.
func writeChecksums(dir, path string) error {
	entries, err := os.ReadDir(dir) // sorted
	if err != nil {
		return err
	}
	return create(path, func(w io.Writer) error {
		for _, e := range entries {
			if !e.Type().IsRegular() || e.Name() == filepath.Base(path) {
				continue
			}
			sum, err := checksum(filepath.Join(dir, e.Name()))
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(w, "%s  %s\n", sum, e.Name()); err != nil {
				return err
			}
		}
		return nil
	})
}
