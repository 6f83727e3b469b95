// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package reasons_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

var camelCase = regexp.MustCompile(`^[A-Z][a-z]+([A-Z][a-z]+)*$`)

// TestEveryReasonIsExplained checks that each reason is in one list, once, and that its meaning
// and cure are whole sentences. Only a list makes a reason, so no other can be given.
func TestEveryReasonIsExplained(t *testing.T) {
	t.Parallel()
	topics := map[string]string{}
	for _, topic := range reasons.All() {
		if len(topic.Reasons) == 0 {
			t.Errorf("%s has no reasons", topic.Name)
		}
		for _, r := range topic.Reasons {
			if other, listed := topics[r.Name()]; listed {
				t.Errorf("%s is in %s and in %s", r, other, topic.Name)
			}
			topics[r.Name()] = topic.Name
			if !camelCase.MatchString(r.Name()) {
				t.Errorf("%q is not in CamelCase", r.Name())
			}
			for _, text := range []string{r.Doc(), r.Cure()} {
				if !strings.HasSuffix(text, ".") || strings.TrimSpace(text) != text {
					t.Errorf("%s: %q is not a whole sentence", r, text)
				}
			}
			if found, declared := reasons.Find(r.Name()); !declared || found != r {
				t.Errorf("Find(%q) returns another reason: %q", r.Name(), found.Doc())
			}
		}
	}
}

// TestEveryRuleIsListed checks that the reasons of each rule, which has a folder in policy, are in All.
func TestEveryRuleIsListed(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../policy/*/reasons.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		rule := filepath.Base(filepath.Dir(file))
		topic := strings.ToUpper(rule[:1]) + rule[1:] + " rule"
		if !slices.ContainsFunc(reasons.All(), func(t reasons.Topic) bool { return t.Name == topic }) {
			t.Errorf("All has no topic %q with the reasons of policy/%s", topic, rule)
		}
	}
}

// TestEverySharedReasonHasARule checks that a reason of more than one rule is in the list of one of them.
func TestEverySharedReasonHasARule(t *testing.T) {
	t.Parallel()
	for _, r := range policy.SharedReasons() {
		if !slices.ContainsFunc(reasons.All(), func(topic reasons.Topic) bool {
			return strings.HasSuffix(topic.Name, " rule") && slices.Contains(topic.Reasons, r)
		}) {
			t.Errorf("no rule's list has %s", r)
		}
	}
}

// TestUnknownReason checks that no reason has the name of the zero Reason, or any other that isn't
// declared.
func TestUnknownReason(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", policy.Reason{}.Name(), "backupfailing", "NoSuchReason"} {
		if r, declared := reasons.Find(name); declared {
			t.Errorf("Find(%q) returns %s", name, r)
		}
	}
}
