// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Snapshot returns the text of a snapshot, and of the etcd that was started from it, if there is one.
func Snapshot(c *ui.Console, s *v1alpha1.Snapshot) Text {
	return func(w io.Writer, _ bool) error {
		return errors.Join(writeSnapshot(c, w, s), writeRestored(c, w, s.Restored))
	}
}

// writeSnapshot describes a snapshot, one property a line.
func writeSnapshot(c *ui.Console, w io.Writer, s *v1alpha1.Snapshot) error {
	lines := [][2]string{
		{"File", s.File},
		{"Size", fmt.Sprintf("%s (%d bytes)", policy.Bytes(s.Size), s.Size)},
		{"Revision", revisionText(s)},
		{"Keys", fmt.Sprintf("%d, %d leases", s.Keys, s.Leases)},
		{"Version", formatText(s)},
		{"SHA-256", s.SHA256},
		{"Hash", s.Hash + " (as in etcdutl)"},
		{"Checked", "the hash at the end, all pages and their order"},
	}
	if !s.Hashed {
		lines[7][1] = "all pages and their order; there is no hash at the end, so the file is a copy of a member's database"
	}
	if s.Auth {
		lines = append(lines, [2]string{"Auth", "on, and stays on after a restore"})
	}
	if len(s.Alarms) > 0 {
		lines = append(lines, [2]string{"Alarms", strings.Join(s.Alarms, ", ") + ": in force even after a restore, until disarmed"})
	}
	if names := memberNames(s); names != "" {
		lines = append(lines, [2]string{"Members", names})
	}
	if o := s.Origin; o != nil {
		lines = append(lines,
			[2]string{"Cluster", fmt.Sprintf("%s %s/%s, ID %s", o.Cluster.Kind, o.Cluster.Namespace, o.Cluster.Name, o.ClusterID)},
			[2]string{"Source", fmt.Sprintf("%s (%s, ID %s), etcd %s", o.Pod, o.Role, o.MemberID, o.EtcdVersion)},
			[2]string{"Taken", format.Time(o.TakenAt.Time)},
			[2]string{"Took", tookText(s)},
		)
	}
	for _, l := range lines {
		if err := c.Labelled(w, ui.Cell{Text: fmt.Sprintf("%-10s", l[0]+":")}, 11, l[1]); err != nil {
			return err
		}
	}
	return nil
}

func revisionText(s *v1alpha1.Snapshot) string {
	if s.CompactedRevision == 0 {
		return fmt.Sprintf("%d, never compacted", s.Revision)
	}
	return fmt.Sprintf("%d, compacted up to %d", s.Revision, s.CompactedRevision)
}

func formatText(s *v1alpha1.Snapshot) string {
	return fmt.Sprintf("storage %s, cluster %s", cmp.Or(s.StorageVersion, "before 3.6"), cmp.Or(s.ClusterVersion, "unknown"))
}

func memberNames(s *v1alpha1.Snapshot) string {
	var names []string
	for _, m := range s.Members {
		name := cmp.Or(m.Name, m.ID)
		if m.Learner {
			name += " (learner)"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func tookText(s *v1alpha1.Snapshot) string {
	o := s.Origin
	text := fmt.Sprintf("%.1fs to download (%s/s), %.1fs to verify", o.TransferSeconds, policy.Bytes(int64(float64(s.Size)/max(o.TransferSeconds, 0.001))), o.VerifySeconds)
	if o.Attempts > 1 {
		text += fmt.Sprintf(", %d attempts", o.Attempts)
	}
	return text
}
