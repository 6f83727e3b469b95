// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package blob

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gocloud.dev/blob/memblob"

	"github.com/kubectl-etcd/kubectl-etcd/internal/blob/blobtest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdtest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
)

// database returns a snapshot: an empty database of etcd, and its hash.
func database(t *testing.T) []byte {
	t.Helper()
	db := etcdtest.Database(t)
	sum := sha256.Sum256(db)
	return append(db, sum[:]...)
}

func fileOf(t *testing.T, content []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "local.db")
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// stores are the kinds of stores, with an open folder of each.
func stores(t *testing.T) map[string]*Store {
	t.Helper()
	l, err := ParseFolder("file://" + filepath.ToSlash(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	dir, err := Open(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*Store{
		"memory": {bucket: memblob.OpenBucket(nil)}, "directory": dir,
		"s3": opened(t, (&blobtest.S3{}).URL(t)), "gcs": opened(t, (&blobtest.GCS{}).URL(t)), "azure": opened(t, (&blobtest.Azure{}).URL(t)),
	}
}

// realStore is a variable with the URL of an empty folder in a real store, whose credentials are in the environment.
const realStore = "KUBECTL_ETCD_TEST_STORE"

// TestRealStore does the same as TestStore with a real store, if there is one.
func TestRealStore(t *testing.T) {
	url := os.Getenv(realStore)
	if url == "" {
		t.Skipf("%s has no URL of an empty folder", realStore)
	}
	testStore(t, opened(t, url))
}

func opened(t *testing.T, url string) *Store {
	t.Helper()
	l, err := ParseFolder(url)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) {
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) { testStore(t, s) })
	}
}

//nolint:gocyclo // one check after the other
func testStore(t *testing.T, s *Store) {
	t.Helper()
	db := database(t)
	defer s.Close()
	local, done := fileOf(t, db), int64(0)
	ctx := WithProgress(t.Context(), func(n, total int64) {
		if total != int64(len(db)) || n < done {
			t.Errorf("progress %d of %d", n, total)
		}
		done = n
	})
	if err := errors.Join(s.Upload(ctx, "a.db", local, false), s.WriteSmall(ctx, "a.db.json", []byte("{}"))); err != nil {
		t.Fatal(err)
	}
	if done != int64(len(db)) {
		t.Errorf("reported %d of %d bytes", done, len(db))
	}
	if err := s.Upload(t.Context(), "a.db", local, false); !errors.Is(err, ErrExists) {
		t.Errorf("a second upload: %v", err)
	}
	if err := errors.Join(s.Upload(t.Context(), "a.db", local, true), s.Upload(t.Context(), "b.db", local, false)); err != nil {
		t.Error(err)
	}
	if err := s.CheckNew(t.Context(), "a.db"); !errors.Is(err, ErrExists) {
		t.Errorf("CheckNew: %v", err)
	}
	if got := list(t, s, "a"); got != "a.db a.db.json" {
		t.Errorf("the folder has %s", got)
	}
	to := filepath.Join(t.TempDir(), "copy.db")
	if err := s.fetch(t.Context(), s.location.At("a.db"), to); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(to); err != nil || !bytes.Equal(got, db) {
		t.Errorf("fetched %d bytes, %v", len(got), err)
	}
	if text, err := s.ReadSmall(t.Context(), "a.db.json", 10); err != nil || string(text) != "{}" {
		t.Errorf("read %q, %v", text, err)
	}
	if _, err := s.ReadSmall(t.Context(), "a.db", 10); err == nil || !strings.Contains(err.Error(), "it has more than 10 bytes") {
		t.Errorf("a long object: %v", err)
	}
	if text, err := s.ReadSmall(t.Context(), "absent", 10); err != nil || text != nil {
		t.Errorf("an absent object: %q, %v", text, err)
	}
	if err := errors.Join(s.Delete(t.Context(), "a.db"), s.Delete(t.Context(), "a.db")); err != nil {
		t.Error(err)
	}
	if got := list(t, s, ""); got != "b.db" {
		t.Errorf("the folder has %s after the deletion", got)
	}
	if err := s.Delete(t.Context(), "b.db"); err != nil {
		t.Error(err)
	}
}

func list(t *testing.T, s *Store, prefix string) string {
	t.Helper()
	objects, err := s.List(t.Context(), prefix)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range objects {
		if o.Modified.IsZero() || o.Size == 0 {
			t.Errorf("%s has %d bytes of %s", o.Name, o.Size, o.Modified)
		}
		names = append(names, o.Name)
	}
	return strings.Join(names, " ")
}

// TestFetchFails: a damaged or absent object leaves no file.
func TestFetchFails(t *testing.T) {
	t.Parallel()
	db := database(t)
	changed := bytes.Clone(db)
	changed[len(changed)-1] ^= 1
	dir := t.TempDir()
	for name, content := range map[string][]byte{"cut.db": db[:len(db)/2-7], "changed.db": changed, "empty.db": {}} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folder, err := ParseFolder("file://" + filepath.ToSlash(dir))
	if err != nil {
		t.Fatal(err)
	}
	for name, damaged := range map[string]bool{"cut.db": true, "changed.db": true, "empty.db": true, "absent.db": false, "": false} {
		to := filepath.Join(t.TempDir(), "copy.db")
		err := Fetch(t.Context(), folder.At(name), to)
		_, corrupt := errors.AsType[*snapshot.CorruptError](err)
		if err == nil || corrupt != damaged || !strings.Contains(err.Error(), folder.Folder) {
			t.Errorf("%q: %v", name, err)
		}
		if left, _ := filepath.Glob(to + "*"); len(left) > 0 {
			t.Errorf("%q left %q", name, left)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "good.db"), db, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Fetch(t.Context(), folder.At("good.db"), filepath.Join(t.TempDir(), "copy.db")); err != nil {
		t.Error(err)
	}
}

// TestUploadFails: an object that the store changes, loses or can't return is deleted.
func TestUploadFails(t *testing.T) {
	local := fileOf(t, database(t))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for name, row := range map[string]struct {
		server *blobtest.S3
		ctx    context.Context //nolint:containedctx // of a row
		text   string
	}{
		"changes":     {&blobtest.S3{Get: func(w http.ResponseWriter) { _, _ = w.Write([]byte("other")) }}, t.Context(), "the store returns other data than it received"},
		"unreadable":  {&blobtest.S3{Get: func(w http.ResponseWriter) { blobtest.Fail(w, http.StatusForbidden, "AccessDenied") }}, t.Context(), "AccessDenied"},
		"interrupted": {&blobtest.S3{}, WithProgress(ctx, func(int64, int64) { cancel() }), "context canceled"},
	} {
		l, err := ParseFolder(row.server.URL(t))
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Upload(row.ctx, "a.db", local, false); err == nil || !strings.Contains(err.Error(), row.text) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
		if got := list(t, s, ""); got != "" {
			t.Errorf("%s: the folder has %s", name, got)
		}
	}
}

// TestUploadReplaces: an object that has replaced the one before is deleted only if the store has other data, and not if
// it can't be read for a moment: it may be the only backup.
func TestUploadReplaces(t *testing.T) {
	local := fileOf(t, database(t))
	for name, row := range map[string]struct {
		get  func(w http.ResponseWriter)
		want string
	}{
		"unreadable": {func(w http.ResponseWriter) { blobtest.Fail(w, http.StatusForbidden, "AccessDenied") }, "a.db"},
		"changes":    {func(w http.ResponseWriter) { _, _ = w.Write([]byte("other")) }, ""},
	} {
		server := &blobtest.S3{}
		l, err := ParseFolder(server.URL(t))
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Upload(t.Context(), "a.db", local, false); err != nil {
			t.Fatal(err)
		}
		server.Get = row.get
		if err := s.Upload(t.Context(), "a.db", local, true); err == nil {
			t.Errorf("%s: no error", name)
		}
		if got := list(t, s, ""); got != row.want {
			t.Errorf("%s: the folder has %q, want %q", name, got, row.want)
		}
	}
}

// TestUploadWithoutConditions: a store that knows no conditional writes is asked for the name before.
func TestUploadWithoutConditions(t *testing.T) {
	local := fileOf(t, database(t))
	l, err := ParseFolder((&blobtest.S3{NoConditions: true}).URL(t))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Upload(t.Context(), "a.db", local, false); err != nil {
		t.Error(err)
	}
	if err := s.Upload(t.Context(), "a.db", local, false); !errors.Is(err, ErrExists) {
		t.Errorf("a second upload: %v", err)
	}
}
