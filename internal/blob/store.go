// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	cloud "gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/gcerrors"
	_ "golang.org/x/crypto/x509roots/fallback" // for an image without a system's certificate authorities
)

// RecordSuffix ends the name of the object that describes a snapshot.
const RecordSuffix = ".json"

// Store is an open folder of snapshots. The caller closes it.
type Store struct {
	location Location
	bucket   *cloud.Bucket
}

// Object is one object in the folder.
type Object struct {
	Name     string
	Size     int64
	Modified time.Time
}

// Open opens the folder of a location. It does not connect to the store, but may ask the machine for credentials.
func Open(ctx context.Context, l Location) (*Store, error) {
	bucket, err := openBucket(ctx, l)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", l.Folder, lineError{err})
	}
	return &Store{location: l, bucket: bucket}, nil
}

func openBucket(ctx context.Context, l Location) (*cloud.Bucket, error) {
	p, known := providerOf(l.scheme)
	if !known {
		return nil, errors.New("the location is empty")
	}
	bucket, err := p.open(ctx, l)
	if err != nil || l.prefix == "" {
		return bucket, err
	}
	return cloud.PrefixedBucket(bucket, l.prefix+"/"), nil
}

func openDirectory(_ context.Context, l Location) (*cloud.Bucket, error) {
	// Temporary files are next to the final ones, because a rename works only in one file system.
	return fileblob.OpenBucket(localPath(l.dir), &fileblob.Options{NoTempDir: true, Metadata: fileblob.MetadataDontWrite})
}

// Close closes the store.
func (s *Store) Close() error { return s.bucket.Close() }

// List returns the objects of the folder whose names begin with a prefix, by name. It skips folders
// below.
func (s *Store) List(ctx context.Context, prefix string) ([]Object, error) {
	var out []Object
	for list := s.bucket.List(&cloud.ListOptions{Prefix: prefix, Delimiter: "/"}); ; {
		o, err := list.Next(ctx)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", s.location.Folder, lineError{err})
		}
		if !o.IsDir {
			out = append(out, Object{Name: o.Key, Size: o.Size, Modified: o.ModTime})
		}
	}
}

// ReadSmall reads an object that has at most limit bytes. It returns nil if the object doesn't exist.
func (s *Store) ReadSmall(ctx context.Context, name string, limit int64) ([]byte, error) {
	r, err := s.bucket.NewReader(ctx, name, nil)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, s.failed("read", name, err)
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("it has more than %d bytes", limit)
	}
	if err != nil {
		return nil, s.failed("read", name, err)
	}
	return text, nil
}

// Delete deletes a snapshot, and the object that describes it if there is one.
func (s *Store) Delete(ctx context.Context, name string) error {
	for _, key := range []string{name, name + RecordSuffix} {
		if err := s.bucket.Delete(ctx, key); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
			return s.failed("delete", key, err)
		}
	}
	return nil
}

// failed returns an error about an object, with its URL.
func (s *Store) failed(verb, name string, err error) error {
	return fmt.Errorf("%s %s/%s: %w", verb, s.location.Folder, name, lineError{err})
}

// lineError is an error of an SDK without line breaks, and without the parameters of URLs and the answers of Azure: these
// may have a signature.
type lineError struct{ error }

var parametersOfURL = regexp.MustCompile(`(https?://[^\s"?]*)\?[^\s"]*`)

func (e lineError) Error() string {
	text := e.error.Error()
	if azure, ok := errors.AsType[*azcore.ResponseError](e.error); ok {
		text = strings.ReplaceAll(text, azure.Error(), fmt.Sprintf("HTTP %d %s", azure.StatusCode, azure.ErrorCode))
	}
	text = parametersOfURL.ReplaceAllString(strings.Join(strings.Fields(text), " "), "$1")
	if untrusted(e.error) {
		text += ": add --store-ca with the certificate authority of the store"
	}
	return text
}

func (e lineError) Unwrap() error { return e.error }
