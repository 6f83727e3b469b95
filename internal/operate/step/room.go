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
	// How is how to get more room.
	How string
}

// Command implements Action.
func (r Room) Command(f Flags) string {
	script := fmt.Sprintf(`test "$(df -Pk %s | tail -n 1 | tr -s ' ' | cut -d ' ' -f 4)" -ge %d`, format.Quote(r.Dir), r.kilobytes())
	return f.kubectl("exec %s -- sh -c %s", r.Pod, format.Quote(script))
}

func (r Room) kilobytes() int64 { return (r.Bytes + 1023) / 1024 }

// Do implements Action. Where df fails or prints no number, nothing is known, and the copy itself fails if there is no
// room.
func (r Room) Do(ctx context.Context, c Clients) error {
	var out bytes.Buffer
	if err := c.exec(ctx, r.Pod, []string{"df", "-Pk", r.Dir}, nil, &out); err != nil {
		return context.Cause(ctx)
	}
	free, known := freeKilobytes(out.String())
	if !known || free >= r.kilobytes() {
		return nil
	}
	return fmt.Errorf("%s has %s free in %s, and the new data needs %s beside the old data. %s", r.Pod, policy.Bytes(free*1024), r.Dir, policy.Bytes(r.Bytes), r.How)
}

// freeKilobytes returns the number of the column Available in what df -Pk prints.
func freeKilobytes(text string) (n int64, known bool) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	fields := strings.Fields(lines[len(lines)-1])
	if len(fields) < 6 {
		return 0, false
	}
	n, err := strconv.ParseInt(fields[3], 10, 64)
	return n, err == nil && n >= 0
}

func (r Room) forPod(name string) Action {
	r.Pod = withPod(r.Pod, name)
	return r
}
