// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
)

func TestSpecIsChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string
		spec       Spec
	}{
		{"no flavour", "no flavour is called", Spec{}},
		{"negative size", "-1 members", Spec{Flavour: Plain, Size: -1}},
		{"version for druid", "druid chooses", Spec{Flavour: Druid, Version: "3.6"}},
		{"unknown version", `"4.0"`, Spec{Flavour: Plain, Version: "4.0"}},
		{"ephemeral druid", "can't be ephemeral", Spec{Flavour: Druid, Ephemeral: true}},
		{"budget for druid", "makes the budget", Spec{Flavour: Druid, Budget: &Budget{}}},
		{"mutation for druid", "makes the StatefulSet", Spec{Flavour: Druid, Mutate: func(*appsv1.StatefulSet) {}}},
		{"druid's for plain", "nothing of druid's", Spec{Flavour: Plain, Druid: DruidSpec{NoBackups: true}}},
		{"plain's for druid", "nothing of a plain", Spec{Flavour: Druid, Plain: PlainSpec{Shell: true}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := c.spec.check(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("check() = %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestReadyMade(t *testing.T) {
	t.Parallel()
	for _, name := range ReadyMadeNames() {
		spec, err := ReadyMade(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := spec.check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ReadyMade("druid-7"); err == nil || !strings.Contains(err.Error(), "plain-5") {
		t.Errorf("ReadyMade(druid-7) = %v, want an error that lists the names", err)
	}
}
