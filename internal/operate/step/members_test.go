// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"os/exec"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// TestRestoreTraffic: the printed command leaves the cut of another user until its end, restores what was not cut
// before, and restores all when the end has passed: as Do does.
func TestRestoreTraffic(t *testing.T) {
	t.Parallel()
	const (
		all  = "kubectl etcd --context desk -n team --cert a.crt restore-client-traffic etcd/main -y\n"
		head = "kubectl --context desk -n team patch service/"
		ends = `{"spec":{"selector":{"kubectl-etcd.dev/client-traffic":"cut-until-0"}}}` + "\n"
		null = `{"spec":{"selector":{"kubectl-etcd.dev/client-traffic":null}}}` + "\n"
	)
	opens := func(name string) string {
		return head + name + " --type merge -p " + ends + head + name + " --type merge -p " + null
	}
	cut := func(name, end string) string {
		return head + name + ` --type merge -p {"spec":{"selector":{"kubectl-etcd.dev/client-traffic":"cut-until-` + end + `"}}}` + "\n"
	}
	past, ahead, later := time.Unix(1, 0), time.Unix(4102444800, 0), time.Unix(4102444801, 0)
	for _, row := range []struct {
		name string
		act  RestoreTraffic
		want string
	}{
		{"no cut from before", RestoreTraffic{}, all},
		{"a cut from before", RestoreTraffic{Ends: map[string]time.Time{"main": ahead}}, cut("main", "4102444800")},
		{"its end has passed", RestoreTraffic{Ends: map[string]time.Time{"main": past}, Open: []string{"other"}}, all},
		{"one of two was cut", RestoreTraffic{Ends: map[string]time.Time{"main": ahead}, Open: []string{"other"}}, cut("main", "4102444800") + opens("other")},
		{"one end has passed", RestoreTraffic{Ends: map[string]time.Time{"a": past, "b": ahead, "c": later}}, opens("a") + cut("b", "4102444800") + cut("c", "4102444801")},
	} {
		row.act.Target = "etcd/main"
		out, err := exec.CommandContext(t.Context(), "sh", "-euc", "kubectl() { echo kubectl \"$@\"; }\n"+row.act.Command(flags)).CombinedOutput()
		if diff := cmp.Diff(row.want, string(out)); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", row.name, err, diff)
		}
	}
}

// TestCutTraffic: each length is printed so that the flag reads the same.
func TestCutTraffic(t *testing.T) {
	t.Parallel()
	for length := time.Second; length < 30*time.Hour; length += 59 * time.Second {
		for _, l := range []time.Duration{length, length.Round(time.Minute), length.Round(time.Hour)} {
			if l == 0 {
				continue
			}
			text := policy.Duration(l)
			if parsed, err := time.ParseDuration(text); err != nil || parsed != l {
				t.Fatalf("%s is printed as %s: %v", l, text, err)
			}
		}
	}
	for l, want := range map[time.Duration]string{2 * time.Hour: "2h", 130 * time.Minute: "2h10m", 10 * time.Minute: "10m", 90 * time.Second: "1m30s", time.Hour + 5*time.Second: "1h0m5s", 20 * time.Second: "20s"} {
		if got := policy.Duration(l); got != want {
			t.Errorf("%s is printed as %s, want %s", l, got, want)
		}
	}
}
