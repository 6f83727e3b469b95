// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// digestKind is the beginning of a digest. The journals of earlier versions have the versions of objects in its place,
// which are not compared.
const digestKind = "hmac-sha256:"

// digest identifies the content of an object that pods read. The key is the object's UID. The journal has the digest and
// not the UID, so a user who may read the journal and not a Secret can't test guesses of its content. An object that was
// created again has another digest, also with the same content.
func (r reference) digest(uid types.UID, data map[string][]byte) string {
	h := hmac.New(sha256.New, []byte(uid))
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if r.whole || slices.Contains(r.keys, key) {
			_, _ = fmt.Fprintf(h, "%d %s %d %s", len(key), key, len(data[key]), data[key]) // never fails
		}
	}
	return digestKind + hex.EncodeToString(h.Sum(nil))
}

// changedSince returns the objects that pods still read, and whose content is another one than before.
func changedSince(before, now map[string]string) []string {
	var changed []string
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if digest, is := now[name]; is && digest != before[name] && strings.HasPrefix(before[name], digestKind) {
			changed = append(changed, name)
		}
	}
	return changed
}

// checkUnchanged stops a restart of members one by one if what they read has changed since it began: the next member would
// start with another content than those before it.
func (j *Job) checkUnchanged(ctx context.Context, s *state, r *Record) error {
	now, err := j.readConfig(ctx, s.sets, &operate.Findings{})
	if err != nil {
		return err
	}
	changed := changedSince(r.Config, now)
	if len(changed) == 0 {
		return nil
	}
	before := "no member has been restarted"
	if restarted := j.Restarted(ctx, r); len(restarted) > 0 {
		before = policy.Names(restarted, "has been restarted, and may have the earlier content", "have been restarted, and may have the earlier content")
	}
	command := j.Owner.Command("restart")
	again := command
	if r.Only != "" {
		again += " --member " + r.Only
	}
	return operate.HaltForGood("%s since the restart began, and %s. When no other change follows, end this restart with %s --abort, and begin another one, so that all members start with the same content: %s",
		policy.Names(changed, "has changed", "have changed"), before, command, again)
}
