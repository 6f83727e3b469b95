// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Room checks that a directory in a pod has room for new data.
type Room struct {
	Pod, Dir string
	// Bytes is how much the new data needs.
	Bytes int64
	// Unless is a path with which there is nothing to check, empty for none.
	Unless string
	// Claim is the volume claim of the directory. How is what else a user can do if there is too little room, empty for
	// nothing.
	Claim, How string
}

// Command implements Action.
func (r Room) Command(f Flags) string {
	script := fmt.Sprintf(`test "$(df -Pk %s | tail -n 1 | tr -s ' ' | cut -d ' ' -f 4)" -ge %d`, format.Quote(r.Dir), r.kilobytes())
	return f.kubectl("exec %s -- sh -c %s", r.Pod, format.Quote(r.unless()+script))
}

func (r Room) kilobytes() int64 { return (r.Bytes + 1023) / 1024 }

// Do implements Action. Where df fails or prints no number, nothing is known, and the copy itself fails if there is no
// room.
func (r Room) Do(ctx context.Context, c Clients) error {
	var out bytes.Buffer
	if err := c.exec(ctx, r.Pod, []string{"sh", "-c", r.unless() + "df -Pk " + format.Quote(r.Dir)}, nil, &out); err != nil {
		return context.Cause(ctx)
	}
	total, free, known := kilobytes(out.String())
	if !known || free >= r.kilobytes() {
		return nil
	}
	grow := GrowClaim(Flags{Kubectl: "-n " + c.Namespace}, r.Claim, (total+r.kilobytes()-free)*1024)
	return fmt.Errorf("%s has %s free in %s, and the new data needs %s beside the old data. Grow the volume, and repeat the command: %s%s",
		r.Pod, policy.Bytes(free*1024), r.Dir, policy.Bytes(r.Bytes), grow, strings.TrimSuffix(". "+r.How, ". "))
}

// unless returns the beginning of a script that checks nothing if a path exists.
func (r Room) unless() string {
	if r.Unless == "" {
		return ""
	}
	return "test -e " + format.Quote(r.Unless) + " || "
}

// GrowClaim returns the command that requests a volume of at least some size.
func GrowClaim(f Flags, claim string, bytes int64) string {
	return f.kubectl(`patch pvc/%s --type merge -p '{"spec":{"resources":{"requests":{"storage":"%s"}}}}'`, claim, Gibibytes(bytes))
}

// Gibibytes returns the size of a volume in which some bytes fit, as in a claim: "3Gi". A file system needs some of it.
func Gibibytes(bytes int64) string { return fmt.Sprintf("%dGi", (bytes+bytes/10)>>30+1) }

// kilobytes returns the numbers of the columns 1024-blocks and Available in what df -Pk prints.
func kilobytes(text string) (total, free int64, known bool) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	fields := strings.Fields(lines[len(lines)-1])
	if len(fields) < 6 {
		return 0, 0, false
	}
	total, totalErr := strconv.ParseInt(fields[1], 10, 64)
	free, err := strconv.ParseInt(fields[3], 10, 64)
	return total, free, err == nil && totalErr == nil && free >= 0
}

func (r Room) forPod(name string) Action {
	r.Pod, r.Claim = withPod(r.Pod, name), withPod(r.Claim, name)
	return r
}
