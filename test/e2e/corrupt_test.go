// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestPluginCorrupt raises CORRUPT over equal data and over different data. The first alarm may
// be disarmed. The second alarm stays until the member with the different data is replaced.
func TestPluginCorrupt(t *testing.T) {
	operating(t, 1)
	ns := namespace(t)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, TLS: true})
	members := membersOf(t, c)
	needle := "needle of " + ns
	retry(t, "a write of the needle", func(ctx context.Context) error {
		_, err := clientOf(t, members, "main-0").Put(ctx, "needle", needle)
		return err
	})

	raiseAlarm(t, members, maintenance.Corrupt, "main-1")
	raiseAlarm(t, members, maintenance.Corrupt, "")
	prints(t, 3, []string{"CORRUPT of a member that etcd doesn't name"}, "check", "main", "-n", ns, "--only", "D001")
	refuses(t, []string{"CORRUPT"}, "scale", "main", "--replicas", "5", "-n", ns, "-y")
	disarm := []string{"alarm", "disarm", "main", "-n", ns, "-y"}
	stdout, printed := plugin(t, 0, disarm...)
	wants(t, stdout, "alarm CORRUPT of a member that etcd doesn't name is disarmed")
	wants(t, printed, "the data of all 3 voters is the same")
	wants(t, stdout, "alarm CORRUPT of main-1 is disarmed")

	corrupt(t, c, "main-2", needle)
	raiseAlarm(t, members, maintenance.Corrupt, "main-2")
	raiseAlarm(t, members, maintenance.NoSpace, "main-0")
	stdout, printed = plugin(t, 3, disarm...)
	wants(t, printed, "alarm CORRUPT of main-2 stays")
	wants(t, stdout, "alarm NOSPACE of main-0 is disarmed")
	refuses(t, []string{"alarm CORRUPT of main-2 stays", "the data of main-0 and main-1 differs from that of main-2"}, disarm...)
	refuses(t, []string{"CORRUPT"}, "defrag", "main", "-n", ns, "-y")
	refuses(t, []string{"it is healthy"}, "member", "replace", "main-1", "-n", ns, "-y")
	prints(t, 3, []string{"kubectl etcd member replace statefulset/main main-2 -n " + ns}, "check", "main", "-n", ns, "--only", "D004")
	_, printed = plugin(t, 0, "member", "replace", "statefulset/main", "main-2", "-n", ns, "-y")
	wants(t, printed, "its data differs from that of main-0 and main-1")
	plugin(t, 0, disarm...)
	members = membersOf(t, c)
	retry(t, "a write to the new member", func(ctx context.Context) error {
		_, err := clientOf(t, members, "main-2").Put(ctx, "needle", "mended")
		return err
	})
	plugin(t, 0, "check", "main", "-n", ns, "--only", "D001,D004")
}

// raiseAlarm has etcd raise an alarm for a pod's member. If pod is empty, the alarm is for an
// unknown member.
func raiseAlarm(t *testing.T, members *etcd.Cluster, alarm, pod string) {
	t.Helper()
	retry(t, alarm+" of "+pod, func(ctx context.Context) error {
		asked := cmp.Or(pod, "main-0")
		status := members.Status(ctx, asked)
		if status.Err != nil {
			return status.Err
		}
		if pod == "" {
			status.ID = 0
		}
		client := clientOf(t, members, asked)
		_, err := pb.NewMaintenanceClient(client.ActiveConnection()).Alarm(ctx, &pb.AlarmRequest{
			Action: pb.AlarmRequest_ACTIVATE, MemberID: status.ID, Alarm: pb.AlarmType(pb.AlarmType_value[alarm]),
		})
		return err
	})
}

// corrupt changes one byte of a value in a member's database. The member reads the change at
// once, because it maps the file into memory.
func corrupt(t *testing.T, c *clusters.Cluster, pod, needle string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(bed.Shared(), "*", c.Namespace+"_data-"+pod+"_*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%d volumes of %s: %v", len(found), pod, err)
	}
	corrupted := false
	// A commit that was running may have copied the old page. The value is corrupt when another
	// search doesn't find the needle.
	eventually(t, fmt.Sprintf("%q to be changed in the database of %s", needle, pod), func(context.Context) (string, bool, error) {
		var at []string
		err := filepath.WalkDir(found[0], func(path string, _ os.DirEntry, err error) error {
			if err != nil || filepath.Base(path) != "db" {
				return err
			}
			changed, err := corruptFile(path, needle)
			if changed {
				at = append(at, path)
			}
			return err
		})
		done := corrupted && len(at) == 0
		corrupted = corrupted || len(at) > 0
		return fmt.Sprintf("changed %v", at), done, err
	})
}

func corruptFile(path, needle string) (bool, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false, err
	}
	defer file.Close()
	content, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	for from := 0; ; {
		at := bytes.Index(content[from:], []byte(needle))
		if at < 0 {
			return from > 0, nil
		}
		if _, err := file.WriteAt([]byte("N"), int64(from+at)); err != nil {
			return false, err
		}
		from += at + 1
	}
}
