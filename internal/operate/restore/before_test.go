// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
)

// TestBefore: a cut of another user is not ended, neither by the restore nor by its undoing, and it is not
// made shorter meanwhile.
func TestBefore(t *testing.T) {
	t.Parallel()
	for end, length := range map[time.Duration]string{30 * time.Minute: "--for 2h", 5 * time.Hour: "--for 5h0m1s"} {
		r := plainRestore()
		r.Before = traffic.Before{Ends: map[string]time.Time{"main": r.At.Add(end)}, Record: &traffic.Record{Holder: "ann", Reason: "a migration"}}
		undo, err := r.Undo(&progress.Record{})
		if err != nil {
			t.Fatal(err)
		}
		steps, warnings, err := Steps(r)
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprint(warnings); !strings.Contains(text, " by ann (a migration): it stays cut until then") {
			t.Errorf("the warnings are %q", warnings)
		}
		leaves := fmt.Sprintf(`-lt %[1]d ]; then
  kubectl -n team patch service/main --type merge -p '{"spec":{"selector":{"kubectl-etcd.dev/client-traffic":"cut-until-%[1]d"}}}'
else
  kubectl etcd -n team restore-client-traffic statefulset/main -y
fi`, int(end.Seconds()))
		for name, all := range map[string]string{"restore": fmt.Sprint(titles(steps)), "undoing": fmt.Sprint(titles(undo))} {
			if !strings.Contains(all, "Leave client traffic cut, as before") {
				t.Errorf("%s: %s", name, all)
			}
		}
		var text strings.Builder
		for _, s := range append(steps, undo...) {
			fmt.Fprintln(&text, s.Commands(r.Flags))
		}
		if strings.Count(text.String(), leaves) != 2 || strings.Count(text.String(), "restore-client-traffic") != 2 || !strings.Contains(text.String(), length) {
			t.Errorf("end in %s: the commands are\n%s", end, text.String())
		}
		r.OneByOne = true
		if _, _, err := Steps(r); err == nil || !strings.Contains(err.Error(), "no member is added while client traffic is cut") {
			t.Errorf("members that are added under a cut: %v", err)
		}
	}
}
