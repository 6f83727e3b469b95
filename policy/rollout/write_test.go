// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import "testing"

func TestAdmit(t *testing.T) {
	t.Parallel()
	at := func(p int) Value { return Value{Partition: p} }
	onDelete := Value{OnDelete: true}
	for _, r := range []struct {
		name  string
		write Write
		want  Admission
	}{
		{"a label", Write{Now: 3, Asked: 3}, Admission{}},
		{"a template", Write{Now: 3, Asked: 3, Template: true}, Admission{Held: true, Value: at(3), Begins: true}},
		{"a template, and more replicas", Write{Now: 3, Asked: 5, Template: true}, Admission{Held: true, Value: at(3), Begins: true}},
		{"a template, and fewer replicas", Write{Now: 5, Asked: 3, Template: true}, Admission{Held: true, Value: at(3), Begins: true}},
		{"a template for OnDelete", Write{Now: 3, Asked: 3, Template: true, Before: onDelete, After: onDelete}, Admission{}},
		{"a template behind a partition", Write{Now: 3, Asked: 3, Template: true, Before: at(3), After: at(3)}, Admission{}},
		{"a canary", Write{Now: 3, Asked: 3, Template: true, Before: at(2), After: at(2)}, Admission{Held: true, Value: at(3), Author: 2, Begins: true}},
		{"a canary is promoted", Write{Now: 3, Asked: 3, Outdated: true, Before: at(2), After: at(0)}, Admission{Held: true, Value: at(3), Begins: true}},
		{"a partition without an effect", Write{Now: 3, Asked: 3, Before: at(2), After: at(0)}, Admission{}},
		{"from OnDelete", Write{Now: 3, Asked: 3, Outdated: true, Before: onDelete, After: at(0)}, Admission{Held: true, Value: at(3), Begins: true}},
		{"held, a label", Write{Now: 3, Asked: 3, Held: true, Before: at(2), After: at(2)}, Admission{Held: true, Value: at(2)}},
		{"held, etcd-druid resets it", Write{Now: 3, Asked: 3, Held: true, Outdated: true, Before: at(2), After: at(0)}, Admission{Held: true, Value: at(2)}},
		{"held, the next template", Write{Now: 3, Asked: 3, Held: true, Outdated: true, Template: true, Before: at(2), After: at(0)}, Admission{Held: true, Value: at(3), Begins: true}},
		{"held, the next template alone", Write{Now: 3, Asked: 3, Held: true, Author: 1, Template: true, Before: at(2), After: at(2)}, Admission{Held: true, Value: at(3), Author: 1, Begins: true}},
		{"held, the author wants a partition", Write{Now: 3, Asked: 3, Held: true, Before: at(2), After: at(1)}, Admission{Held: true, Value: at(2), Author: 1}},
		{"held, the author wants a higher one", Write{Now: 3, Asked: 3, Held: true, Before: at(1), After: at(3)}, Admission{Held: true, Value: at(3), Author: 3}},
		{"held, the author wants OnDelete", Write{Now: 3, Asked: 3, Held: true, Before: at(2), After: onDelete}, Admission{}},
		{"held by OnDelete, reset", Write{Now: 3, Asked: 3, Held: true, Before: onDelete, After: at(0)}, Admission{Held: true, Value: onDelete}},
		{"held by OnDelete, a label", Write{Now: 3, Asked: 3, Held: true, Author: 1, Before: onDelete, After: onDelete}, Admission{Held: true, Value: onDelete, Author: 1}},
	} {
		if got := Admit(r.write); got != r.want {
			t.Errorf("%s: %+v, want %+v", r.name, got, r.want)
		}
	}
}
