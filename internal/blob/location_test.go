// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package blob

import (
	"net/url"
	"strings"
	"testing"
)

func TestParseObject(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ url, folder, name, shown string }{
		{"s3://backups/team/main.db", "s3://backups/team", "main.db", "s3://backups/team/main.db"},
		{"s3://backups/main.db", "s3://backups", "main.db", "s3://backups/main.db"},
		{"s3://backups/team/", "s3://backups/team", "", "s3://backups/team"},
		{"s3://backups", "s3://backups", "", "s3://backups"},
		{"s3://b/x.db?endpoint=https://minio:9000&region=eu", "s3://b", "x.db", "s3://b/x.db?endpoint=https%3A%2F%2Fminio%3A9000&region=eu"},
		{"s3://b/x.db?kmskeyid=alias", "s3://b", "x.db", "s3://b/x.db?kmskeyid=alias"},
		{"file:///backup/main.db", "file:///backup", "main.db", "file:///backup/main.db"},
		{"file:///a%20b/main.db", "file:///a%20b", "main.db", "file:///a%20b/main.db"},
		{"file://localhost/backup/", "file:///backup", "", "file:///backup"},
		{"gs://backups/team/main.db", "gs://backups/team", "main.db", "gs://backups/team/main.db"},
		{"azblob://backups/team/main.db?storage_account=acme", "azblob://backups/team", "main.db", "azblob://backups/team/main.db?storage_account=acme"},
		{"file:///main.db", "file://", "main.db", "file:///main.db"},
	} {
		l, err := ParseObject(row.url)
		if err != nil || l.Folder != row.folder || l.Name != row.name || l.String() != row.shown {
			t.Errorf("%s: got folder %q, name %q, %q, %v", row.url, l.Folder, l.Name, l, err)
		}
	}
	if l, err := ParseFolder("s3://backups/team"); err != nil || l.Prefix() != "team" || l.Container() != "backups" || l.At("x").String() != "s3://backups/team/x" {
		t.Errorf("the folder is %+v, %v", l, err)
	}
}

// TestRefused: an error has a way forward and never the value of a credential.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ url, text string }{
		{"s3://AKIA:hunter2@bucket/x.db", "remove it, and put the credentials into the environment"},
		{"s3://hunter2@bucket/x.db", "a user or password"},
		{"s3://bucket/x.db?secret_access=hunter2", `"secret_access" of the URL looks like a credential`},
		{"s3://bucket/x.db?AccessKeyId=hunter2", "looks like a credential"},
		{"s3://bucket/x.db?X-Amz-Signature=hunter2", "looks like a credential"},
		{"s3://bucket/x.db?sessionToken=hunter2", "looks like a credential"},
		{"s3://bucket/x.db?password=hunter2", "looks like a credential"},
		{"s3://bucket/x.db?endpoint=https://me:hunter2@minio", "the endpoint of the URL has a user or password"},
		{"s3://bucket/x.db?endpoint=minio:9000", "https://HOST:PORT"},
		{"s3://bucket/x.db?endpoint=https://minio&token=hunter2", "looks like a credential"},
		{"s3://bucket/x.db?regoin=eu", `unknown parameter "regoin"; S3 has accelerate,`},
		{"s3://bucket/x.db#hunter2", "can't be parsed"},
		{"s3://bucket/%zzhunter2", "can't be parsed"},
		{"s3:///x.db", "no valid bucket"},
		{"s3://bucket:9000/x.db", "?endpoint="},
		{"s3://bucket/a/../x.db", "contains .."},
		{"file://backup/x.db", "file:///DIRECTORY"},
		{"file:///x.db?secret_key_path=hunter2", "looks like a credential"},
		{"file:///x.db?create_dir=1", "no parameters"},
		{"gs://bucket/x.db?endpoint=https://elsewhere", `no parameters (gs://BUCKET/PREFIX): remove "endpoint"`},
		{"gs://bucket/x.db?access_token=hunter2", "GOOGLE_APPLICATION_CREDENTIALS"},
		{"gs://me:hunter2@bucket/x.db", "GOOGLE_APPLICATION_CREDENTIALS"},
		{"azblob://container/x.db?sv=2024-01-01&sig=hunter2", `"sig" of the URL looks like a credential: remove it, and put the credentials into the environment (AZURE_STORAGE_ACCOUNT, AZURE_STORAGE_KEY)`},
		{"azblob://container/x.db?sv=hunter2", `unknown parameter "sv"`},
		{"azblob://container/x.db?domain=elsewhere", `unknown parameter "domain"; ABS has storage_account`},
		{"azblob://container/x.db?storage_account=evil.example/hunter2", "3 to 24 lower-case letters and digits"},
		{"azblob://account:hunter2@container/x.db", "a user or password"},
		{"https://account.blob.core.windows.net/container/x.db?sig=hunter2", "looks like a credential"},
		{"https://host/x.db", `not "https"`},
	} {
		_, err := ParseObject(row.url)
		if err == nil || !strings.Contains(err.Error(), row.text) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", row.url, err)
		}
	}
}

func TestIsURL(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"s3://b/x": true, "file:///x": true, "http://x": true,
		"main.db": false, "-": false, "": false, "/a/b": false, "./s3://x": false, `C:\x`: false, "://": false,
	} {
		if got := IsURL(text); got != want {
			t.Errorf("%q: got %v", text, got)
		}
	}
}

// TestWithDefaults: a store that is not AWS gets a region, the bucket in the path, and no checksums that it
// may not know. What the user sets stays.
func TestWithDefaults(t *testing.T) {
	t.Parallel()
	none := func(string) string { return "" }
	if got := withDefaults(url.Values{"region": {"eu"}}, none).Encode(); got != "region=eu" {
		t.Errorf("for AWS: %s", got)
	}
	given := url.Values{"endpoint": {"https://m"}, "use_path_style": {"false"}}
	const want = "endpoint=https%3A%2F%2Fm&region=us-east-1&request_checksum_calculation=when_required&response_checksum_validation=when_required&use_path_style=false"
	if got := withDefaults(given, none).Encode(); got != want {
		t.Errorf("got %s", got)
	}
	if got := withDefaults(given, func(string) string { return "eu" }); got.Has("region") {
		t.Errorf("got %s, although the environment has a region", got.Encode())
	}
}
