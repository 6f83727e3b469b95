// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

// TestNotifyInterval: a setting that is not known is no default.
func TestNotifyInterval(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]time.Duration{"": 10 * time.Minute, "5s": 5 * time.Second, "5000000000": 5 * time.Second, "often": 0} {
		if got := notifyInterval(etcdconf.Config{ProgressNotifyInterval: set}); got != want {
			t.Errorf("%q: %s, want %s", set, got, want)
		}
	}
	for _, flag := range []string{"watch-progress-notify-interval", "experimental-watch-progress-notify-interval"} {
		if got := notifyInterval(etcdconf.Config{Unknown: map[string]string{flag: "a script"}}); got != 0 {
			t.Errorf("%s is not known: %s", flag, got)
		}
	}
}

// TestRestoreAPIServers: the plan for the etcd of API servers has what makes their restart expensive.
func TestRestoreAPIServers(t *testing.T) {
	t.Parallel()
	const lists = "so API servers read consistent lists from etcd"
	for _, row := range []struct {
		etcd     string
		interval time.Duration
		other    bool // keys of other clients
		want     []string
	}{
		{etcd: "3.6.5", interval: notifyDefault, want: []string{"only every 10m, so clients", "(kubeadm sets --watch-progress-notify-interval=5s)"}},
		{etcd: "3.5.21", interval: notifyDefault, want: []string{"--experimental-watch-progress-notify-interval=5s"}},
		{etcd: "3.4.3", interval: notifyDefault, want: []string{"etcd has a flag for that from 3.4.11 on", "etcd 3.4.3 is older than 3.4.31, " + lists}},
		{etcd: "3.5.12", interval: 5 * time.Second, want: []string{"etcd 3.5.12 is older than 3.5.13, " + lists}},
		{etcd: "3.6.5", interval: 5 * time.Second},
		{etcd: "3.5.13", interval: 5 * time.Second},
		{etcd: "3.4.31", interval: 5 * time.Second},
		{etcd: "3.6.5"}, // it is not known
		{etcd: "", interval: notifyDefault, want: []string{"only every 10m"}},
		{etcd: "3.4.3", interval: notifyDefault, other: true},
	} {
		r := plainRestore()
		r.Etcd, r.NotifyInterval, r.Snapshot.Registry = row.etcd, row.interval, !row.other
		text := strings.Join(r.warnings(), "\n")
		if strings.Contains(text, "Kubernetes API server") != (len(row.want) > 0) {
			t.Errorf("%s, %s: %s", row.etcd, row.interval, text)
		}
		for _, want := range row.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s, %s: it lacks %q: %s", row.etcd, row.interval, want, text)
			}
		}
	}
}
