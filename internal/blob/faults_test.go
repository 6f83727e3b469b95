// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package blob

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gocloud.dev/gcerrors"
	"google.golang.org/api/googleapi"

	"github.com/kubectl-etcd/kubectl-etcd/internal/blob/blobtest"
)

// clouds are the servers in memory that can be at fault in any request.
func clouds(fault func(http.ResponseWriter, *http.Request) bool, zeros bool) map[string]interface{ URL(*testing.T) string } {
	objects := func() blobtest.Objects { return blobtest.Objects{Fault: fault, Zeros: zeros} }
	return map[string]interface{ URL(*testing.T) string }{"gcs": &blobtest.GCS{Objects: objects()}, "azure": &blobtest.Azure{Objects: objects()}}
}

// TestFaults: an error of a store is an error with its text, on one line, and leaves no file.
func TestFaults(t *testing.T) {
	fails := map[string]func(http.ResponseWriter, int, string){"gcs": blobtest.FailGCS, "azure": blobtest.FailAzure}
	for _, row := range []struct {
		name  string
		fault func(kind string) func(http.ResponseWriter, *http.Request) bool
		text  string
	}{
		{"wrong key", func(kind string) func(http.ResponseWriter, *http.Request) bool {
			return func(w http.ResponseWriter, _ *http.Request) bool {
				fails[kind](w, http.StatusForbidden, "NotYou")
				return true
			}
		}, "NotYou"},
		{"no bucket", func(kind string) func(http.ResponseWriter, *http.Request) bool {
			return func(w http.ResponseWriter, _ *http.Request) bool {
				fails[kind](w, http.StatusNotFound, "NoBucket")
				return true
			}
		}, "NoBucket"},
		{"cut in half", func(string) func(http.ResponseWriter, *http.Request) bool {
			return func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "a.db") {
					blobtest.Cut(w)
				}
				return false
			}
		}, "unexpected EOF"},
	} {
		for kind := range fails {
			s := opened(t, clouds(row.fault(kind), false)[kind].URL(t))
			to := filepath.Join(t.TempDir(), "copy.db")
			err := s.fetch(t.Context(), s.location.At("a.db"), to)
			if err == nil || !strings.Contains(err.Error(), row.text) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s, %s: fetched with %v", kind, row.name, err)
			}
			if left, _ := filepath.Glob(to + "*"); len(left) > 0 {
				t.Errorf("%s, %s: it left %q", kind, row.name, left)
			}
			if err := s.Upload(t.Context(), "a.db", fileOf(t, database(t)), false); err == nil || !strings.Contains(err.Error(), row.text) {
				t.Errorf("%s, %s: uploaded with %v", kind, row.name, err)
			}
			if err != nil && strings.Contains(err.Error(), "<Error>") {
				t.Errorf("%s, %s: the error has the whole answer: %v", kind, row.name, err)
			}
			if _, err := s.List(t.Context(), ""); (err == nil) != (row.name == "cut in half") {
				t.Errorf("%s, %s: listed with %v", kind, row.name, err)
			}
		}
	}
}

// TestInterrupted: an upload that is interrupted leaves no object, in one request or in parts.
func TestInterrupted(t *testing.T) {
	for _, size := range []int64{1 << 20, 40 << 20} {
		for kind, server := range clouds(nil, true) {
			s := opened(t, server.URL(t))
			ctx, cancel := context.WithCancel(t.Context())
			from := io.TeeReader(io.LimitReader(blobtest.Zeros{}, size), &counter{report: func(done, _ int64) {
				if done > size/2 {
					cancel()
				}
			}})
			if _, err := s.write(ctx, "a.db", from, true); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, %d bytes: %v", kind, size, err)
			}
			if _, err := s.bucket.Attributes(t.Context(), "a.db"); gcerrors.Code(err) != gcerrors.NotFound {
				t.Errorf("%s, %d bytes: the object is there: %v", kind, size, err)
			}
		}
	}
}

// TestVanishes: an object that is gone after it was listed is not found, and its description is nothing.
func TestVanishes(t *testing.T) {
	for kind, server := range clouds(nil, false) {
		s := opened(t, server.URL(t))
		err := s.fetch(t.Context(), s.location.At("gone.db"), filepath.Join(t.TempDir(), "copy.db"))
		if gcerrors.Code(err) != gcerrors.NotFound {
			t.Errorf("%s: %v", kind, err)
		}
		if text, err := s.ReadSmall(t.Context(), "gone.db.json", 10); err != nil || text != nil {
			t.Errorf("%s: read %q, %v", kind, text, err)
		}
	}
}

// TestHuge: an object of any size needs little memory, in both directions.
func TestHuge(t *testing.T) {
	const size, limit = 256 << 20, 160 << 20
	for kind, server := range clouds(nil, true) {
		s := opened(t, server.URL(t))
		runtime.GC()
		var most uint64
		watched := &counter{report: func(done, _ int64) {
			if done%(8<<20) != 0 {
				return
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapInuse)
		}}
		if _, err := s.write(t.Context(), "a.db", io.TeeReader(io.LimitReader(blobtest.Zeros{}, size), watched), true); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		to := filepath.Join(t.TempDir(), "copy.db")
		if err := s.download(WithProgress(t.Context(), func(done, _ int64) { watched.report(done, 0) }), "a.db", to); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if info, err := os.Stat(to); err != nil || info.Size() != size {
			t.Errorf("%s: %v, %v", kind, info, err)
		}
		if most == 0 || most > limit {
			t.Errorf("%s: %d MiB of memory", kind, most>>20)
		}
	}
}

// TestSignatureStaysSecret: no error has the signature of Azure, which is a parameter of each URL.
func TestSignatureStaysSecret(t *testing.T) {
	t.Setenv("AZURE_STORAGE_ACCOUNT", "acme")
	t.Setenv("AZURE_STORAGE_DOMAIN", "invalid:1") // no such host
	t.Setenv("AZURE_STORAGE_SAS_TOKEN", "sv=2024-01-01&sig=hunter2")
	l, err := ParseFolder("azblob://backups/team")
	if err != nil {
		t.Fatal(err)
	}
	client, err := azureClient(l)
	if err != nil || !strings.Contains(client.URL(), "hunter2") {
		t.Fatalf("the signature is not used: %v", err)
	}
	cause := errors.New(`Get "` + client.URL() + `&comp=list": dial tcp: lookup acme.invalid: no such host`)
	if text := (&Store{location: l}).failed("read", "a.db", cause).Error(); strings.Contains(text, "hunter2") || !strings.Contains(text, "no such host") {
		t.Errorf("the error is %s", text)
	}
	t.Setenv("AZURE_STORAGE_KEY", "hunter2!")
	if _, err := Open(t.Context(), l); err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "AZURE_STORAGE_KEY") {
		t.Errorf("a key that is none: %v", err)
	}
}

// TestAccount: the account of Azure is given once.
func TestAccount(t *testing.T) {
	for _, row := range []struct{ url, account, connection, want string }{
		{"azblob://backups", "", "", "add ?storage_account=ACCOUNT"},
		{"azblob://backups", "evil.example/", "", "add ?storage_account=ACCOUNT"},
		{"azblob://backups?storage_account=acme", "", "AccountName=other", "remove storage_account from the URL"},
	} {
		t.Setenv("AZURE_STORAGE_ACCOUNT", row.account)
		t.Setenv("AZURE_STORAGE_CONNECTION_STRING", row.connection)
		l, err := ParseFolder(row.url)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), l); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%+v: %v", row, err)
		}
	}
}

// TestAuthorities: a store with a private authority is refused with the flag to add, and trusted with it.
func TestAuthorities(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "key")
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<ListBucketResult/>")) }))
	defer server.Close()
	dir := t.TempDir()
	file, empty := filepath.Join(dir, "ca.crt"), filepath.Join(dir, "empty")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := errors.Join(os.WriteFile(file, text, 0o600), os.WriteFile(empty, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("STORAGE_EMULATOR_HOST", server.URL)
	for _, url := range []string{"s3://backups?endpoint=" + server.URL, "gs://backups"} {
		l, err := ParseFolder(url)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := opened(t, url).List(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "add --store-ca") {
			t.Errorf("%s: without its authority: %v", url, err)
		}
		if _, err := l.Trusting(empty); err == nil || !strings.Contains(err.Error(), "no certificate in PEM") {
			t.Errorf("an empty file: %v", err)
		}
		if l, err = l.Trusting(file); err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.List(t.Context(), ""); err != nil && strings.Contains(err.Error(), "certificate") {
			t.Errorf("%s: with its authority: %v", url, err)
		}
	}
}

// TestGCSErrorCode: no error is none, and only 404 means that an object is not there.
func TestGCSErrorCode(t *testing.T) {
	t.Parallel()
	for status := 300; status < 600; status++ {
		code := (&gcs{}).ErrorCode(&googleapi.Error{Code: status})
		if code == gcerrors.OK || (code == gcerrors.NotFound) != (status == http.StatusNotFound) {
			t.Errorf("%d is %v", status, code)
		}
	}
}
