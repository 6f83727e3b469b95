// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// file is one entry of a layer.
type file struct {
	path   string
	mode   int64
	owner  int // user and group
	folder bool
	link   string // a symbolic link to this path
	data   string // the content
	from   string // or the file that has the content
}

// layer is a tar of files that is written again each time it is read. It isn't
// compressed: it crosses no wire, and packing and unpacking it for every node
// would take longer than copying it.
type layer struct {
	files   []file
	measure func() (measured, error)
}

// measured is what has to be known of a layer before it is sent.
type measured struct {
	digest v1.Hash
	size   int64
}

// newLayer returns a layer of the files, in their order.
func newLayer(files []file) v1.Layer {
	l := &layer{files: files}
	l.measure = sync.OnceValues(func() (measured, error) {
		sum := sha256.New()
		size := &counter{w: sum}
		if err := l.write(size); err != nil {
			return measured{}, err
		}
		return measured{v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(sum.Sum(nil))}, size.n}, nil
	})
	return l
}

// Digest implements v1.Layer.
func (l *layer) Digest() (v1.Hash, error) {
	m, err := l.measure()
	return m.digest, err
}

// DiffID implements v1.Layer.
func (l *layer) DiffID() (v1.Hash, error) { return l.Digest() }

// Size implements v1.Layer.
func (l *layer) Size() (int64, error) {
	m, err := l.measure()
	return m.size, err
}

// MediaType implements v1.Layer.
func (l *layer) MediaType() (types.MediaType, error) { return types.OCIUncompressedLayer, nil }

// Compressed implements v1.Layer.
func (l *layer) Compressed() (io.ReadCloser, error) { return l.Uncompressed() }

// Uncompressed implements v1.Layer.
func (l *layer) Uncompressed() (io.ReadCloser, error) {
	r, w := io.Pipe()
	go func() { _ = w.CloseWithError(l.write(w)) }() // ends when r is closed
	return r, nil
}

// write writes the tar. Nothing in it depends on when or where that happens.
func (l *layer) write(w io.Writer) error {
	archive := tar.NewWriter(w)
	for _, f := range l.files {
		if err := f.write(archive); err != nil {
			return fmt.Errorf("add %s to a layer: %w", f.path, err)
		}
	}
	return archive.Close()
}

// write adds the file to a tar.
func (f file) write(archive *tar.Writer) error {
	header := &tar.Header{
		Name: strings.TrimPrefix(f.path, "/"), Mode: f.mode, Uid: f.owner, Gid: f.owner, Format: tar.FormatPAX,
	}
	var content io.Reader = strings.NewReader(f.data)
	switch {
	case f.folder:
		header.Typeflag, header.Name = tar.TypeDir, header.Name+"/"
	case f.link != "":
		header.Typeflag, header.Linkname = tar.TypeSymlink, f.link
	case f.from != "":
		opened, err := os.Open(f.from)
		if err != nil {
			return err
		}
		defer func() { _ = opened.Close() }()
		info, err := opened.Stat()
		if err != nil {
			return err
		}
		header.Typeflag, header.Size, content = tar.TypeReg, info.Size(), opened
	default:
		header.Typeflag, header.Size = tar.TypeReg, int64(len(f.data))
	}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	_, err := io.Copy(archive, content)
	return err
}

// counter counts what passes through it.
type counter struct {
	w io.Writer
	n int64
}

// Write implements io.Writer.
func (c *counter) Write(data []byte) (int, error) {
	n, err := c.w.Write(data)
	c.n += int64(n)
	return n, err
}
