// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"net/http"
	"strings"
	"sync"
	"testing"
)

// TestReplacedMeanwhile: a restart whose StatefulSet was created again can be neither continued nor undone, so its end
// advises neither.
func TestReplacedMeanwhile(t *testing.T) {
	t.Parallel()
	v := verb{path: "restart", args: "statefulset/main"}
	w := newWorld(t, v)
	var once sync.Once
	w.Refuse = func(method, path string) int {
		if method == http.MethodPost && strings.HasSuffix(path, "/eviction") {
			once.Do(w.renamed)
		}
		return 0
	}
	code := w.run(t.Context(), v, "-y")
	text := withoutGiven(w.err.String())
	if code != 2 || !strings.Contains(text, "can be neither continued nor undone: see what is left of it with kubectl etcd sweep -n team") {
		t.Errorf("exit code %d:\n%s", code, text)
	}
	for _, way := range []string{"run the same command again", "--abort"} {
		if strings.Contains(text, way) {
			t.Errorf("%q is no way:\n%s", way, text)
		}
	}
}
