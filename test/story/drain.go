// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

const (
	// drainTime is long enough for kubectl to retry several times.
	drainTime = 12 * time.Second
	// longestDrain is the limit for a drain that has not tried an eviction yet.
	longestDrain = 4 * drainTime
)

var errDrained = errors.New("the drain succeeded")

// drainWaits runs kubectl drain against the node of a cluster's member. It checks that kubectl
// retries and that the member stays.
func (w *World) drainWaits(ctx context.Context, c *clusters.Cluster, node string) error {
	var line string
	for within := drainTime; line == ""; within *= 2 {
		w.Do("kubectl drain %s --timeout=%s", node, within)
		var printed bytes.Buffer
		err := c.Drain(ctx, node, within, &printed)
		var undo bytes.Buffer
		if undone := c.Uncordon(ctx, node, &undo); undone != nil {
			return fmt.Errorf("%w: %s", undone, undo.String())
		}
		if err == nil {
			return fmt.Errorf("drain of %s although %s can't spare a member: %w:\n%s", node, c, errDrained, printed.String())
		}
		// On a slow machine, kubectl may not have tried an eviction yet.
		if line = lineWith(printed.String(), "will retry after"); line == "" && within >= longestDrain {
			return fmt.Errorf("drain of %s ended for another reason: %w:\n%s", node, err, printed.String())
		}
	}
	w.Report("kubectl: %s", line)
	w.Good("the drain of %s waits", node)
	return nil
}

func lineWith(text, part string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}
