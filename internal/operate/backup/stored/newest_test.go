// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package stored

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/blob"
)

// TestLastOf: the newest snapshot is the last one whose time is not in the future.
func TestLastOf(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	at := func(name string, after time.Duration) v1alpha1.StoredSnapshot {
		return v1alpha1.StoredSnapshot{Name: name, CreatedAt: metav1.NewTime(now.Add(after))}
	}
	l, err := blob.ParseFolder("s3://backups/team")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name         string
		items        []v1alpha1.StoredSnapshot
		want, failed string
		warned       string
	}{
		{"none", nil, "", "no snapshot is in s3://backups/team", ""},
		{"the last one", []v1alpha1.StoredSnapshot{at("a", -2*time.Hour), at("b", -time.Hour)}, "s3://backups/team/b", "", ""},
		{"a clock that is a little ahead", []v1alpha1.StoredSnapshot{at("a", -time.Hour), at("b", time.Minute)}, "s3://backups/team/b", "", ""},
		{"a clock was a year ahead", []v1alpha1.StoredSnapshot{at("a", -2*time.Hour), at("b", -time.Hour), at("c", 365*24*time.Hour)}, "s3://backups/team/b", "", "1 snapshot in s3://backups/team with a time in the future, from c on"},
		{"this machine's clock is behind", []v1alpha1.StoredSnapshot{at("a", 24*time.Hour), at("b", 25*time.Hour)}, "", "Correct this machine's clock", ""},
	} {
		var printed bytes.Buffer
		logf := func(format string, args ...any) { fmt.Fprintf(&printed, format+"\n", args...) }
		s := Stores{Clock: clocktesting.NewFakePassiveClock(now), Reports: Reports{Notef: logf, Warnf: logf}}
		got, err := s.lastOf(l, row.items, nil)
		if got != row.want || (err == nil) != (row.failed == "") || err != nil && !strings.Contains(err.Error(), row.failed) {
			t.Errorf("%s: got %q, %v", row.name, got, err)
		}
		if !strings.Contains(printed.String(), row.warned) || row.warned == "" && strings.Contains(printed.String(), "wrong") {
			t.Errorf("%s: printed %q", row.name, printed.String())
		}
	}
}
