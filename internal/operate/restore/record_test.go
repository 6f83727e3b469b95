// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestRecord: a record keeps what the steps change, and the owner as it was.
func TestRecord(t *testing.T) {
	t.Parallel()
	r := druidRestore()
	r.Owner.Annotations = map[string]string{unprotection: "theirs", "other": "stays"}
	rec := NewRecord(r)
	now := r.Owner
	now.Annotations = map[string]string{"other": "stays", unprotection: "", "druid.gardener.cloud/suspend-etcd-spec-reconcile": ""}
	was := before(rec, now)
	if was.Annotations[unprotection] != "theirs" || was.Annotations["other"] != "stays" || len(was.Annotations) != 2 {
		t.Errorf("the owner was one with %v", was.Annotations)
	}
}

// TestRecordGiven: the record has nothing of a snapshot's URL that may be secret.
func TestRecordGiven(t *testing.T) {
	t.Parallel()
	r := plainRestore()
	r.Given = "s3://key:secret@bucket/m.db?token=secret"
	if text, err := json.Marshal(NewRecord(r)); err != nil || !strings.Contains(string(text), `"file":"s3://bucket/m.db"`) || strings.Contains(string(text), "secret") {
		t.Errorf("%v: %s", err, text)
	}
}

// TestRecordSurvivor: a record keeps whose data is restored, so that a recovery continues with it.
func TestRecordSurvivor(t *testing.T) {
	t.Parallel()
	r := plainRestore()
	r.Saved, r.Survivor = true, "main-2"
	if rec := NewRecord(r); rec.Survivor != "main-2" {
		t.Errorf("the record has the data of %q", rec.Survivor)
	}
}
