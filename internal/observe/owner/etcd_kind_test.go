// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
)

// TestEtcdKindIsTheProducts compares the kind of druid's API module with the one that internal/flavour
// recognises, which can't import that module.
func TestEtcdKindIsTheProducts(t *testing.T) {
	t.Parallel()
	if got := flavour.Of(flavour.Druid).Controllers; !slices.Contains(got, EtcdKind) {
		t.Errorf("etcd-druid's kinds in internal/flavour are %v, want %v", got, EtcdKind)
	}
}

// TestAnnotationsAreTheProducts compares the annotations and fields of druid's API module with those of internal/flavour.
func TestAnnotationsAreTheProducts(t *testing.T) {
	t.Parallel()
	druid := flavour.Of(flavour.Druid)
	if want := druidv1alpha1.DruidOperationAnnotation + "=" + druidv1alpha1.DruidOperationReconcile; druid.ReconcileBy != want {
		t.Errorf("etcd-druid reconciles by %q, want %q", druid.ReconcileBy, want)
	}
	if want := druidv1alpha1.SuspendEtcdSpecReconcileAnnotation; druid.SuspendBy != want {
		t.Errorf("etcd-druid is suspended by %q, want %q", druid.SuspendBy, want)
	}
	for setting, path := range druid.Fields {
		if !hasField(reflect.TypeFor[druidv1alpha1.Etcd](), strings.Split(path, ".")) {
			t.Errorf("an Etcd has no field %s for the %s", path, setting)
		}
	}
}

// hasField reports whether a type has a field with a path of JSON names.
func hasField(of reflect.Type, path []string) bool {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if len(path) == 0 {
		return true
	}
	if of.Kind() != reflect.Struct {
		return false
	}
	for field := range of.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == path[0] {
			return hasField(field.Type, path[1:])
		}
	}
	return false
}
