// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// limitedByServer are the fields of namespaced objects whose text the API server limits, or that no tenant may write.
var limitedByServer = regexp.MustCompile(`^\*v1\.(Node|Namespace|PersistentVolume)\.|TypeMeta|^\*v1\.[A-Za-z]+\.ObjectMeta\.(Name|Namespace|UID|ResourceVersion)$` +
	`|Containers\[\]\.(Name|RestartPolicy)$|Pod\.(Status|Spec\.NodeName|Spec\.ReadinessGates)|Claim\.(Spec\.StorageClassName|Status)` +
	`|\.UnhealthyPodEvictionPolicy$|StatefulSet\.(Spec\.(PodManagementPolicy|UpdateStrategy\.Type|PersistentVolumeClaimRetentionPolicy)|Status)|Service\.Spec\.(ClusterIP|Type)$`)

// TestCacheHoldsNoLongText has a long text in every field of every kind of object that the cache has.
func TestCacheHoldsNoLongText(t *testing.T) {
	t.Parallel()
	for kind, by := range CacheOptions().ByObject {
		o := reflect.New(reflect.TypeOf(kind).Elem())
		fill(o.Elem(), strings.Repeat("x", mostCached))
		held, err := by.Transform(o.Interface())
		if err != nil {
			t.Fatal(err)
		}
		for _, field := range longTexts(reflect.ValueOf(held), reflect.TypeOf(kind).String()) {
			if !limitedByServer.MatchString(field) {
				t.Errorf("the cache holds all of %s", field)
			}
		}
	}
}

// fill sets every text to the same one, and gives lists and maps one element.
func fill(v reflect.Value, text string) {
	switch v.Kind() { //nolint:exhaustive // the others hold no text
	case reflect.String:
		v.SetString(text)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), text)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, text)
		fill(value, text)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(v.Type()) {
			if f.IsExported() && len(f.Index) == 1 {
				fill(v.FieldByIndex(f.Index), text)
			}
		}
	}
}

// longTexts returns the paths of the texts that are as long as fill made them.
func longTexts(v reflect.Value, path string) (out []string) {
	switch v.Kind() { //nolint:exhaustive // the others hold no text
	case reflect.String:
		if v.Len() >= mostCached {
			return []string{path}
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return longTexts(v.Elem(), path)
		}
	case reflect.Slice:
		for i := range v.Len() {
			out = append(out, longTexts(v.Index(i), path+"[]")...)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			out = append(out, longTexts(key, path+"{key}")...)
			out = append(out, longTexts(v.MapIndex(key), path+"{}")...)
		}
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(v.Type()) {
			if f.IsExported() && len(f.Index) == 1 {
				out = append(out, longTexts(v.FieldByIndex(f.Index), path+"."+f.Name)...)
			}
		}
	}
	return out
}

// TestCacheOfManyBudgets holds that the cache has room for 20,000 budgets of which each is as large as the limits allow,
// whether by few long texts or by many short ones.
func TestCacheOfManyBudgets(t *testing.T) {
	const budgets, sample, room = 20_000, 200, 400 << 20
	for _, length := range []int{1, 60} {
		var all []any
		before := heap()
		for i := range sample {
			all = append(all, transformed(t, largestBudget(fmt.Sprint(i), length)))
		}
		if per := (heap() - before) / sample; per*budgets > room {
			t.Errorf("texts of %d bytes: %d budgets take %d MiB, %d bytes each", length, budgets, per*budgets>>20, per)
		}
		runtime.KeepAlive(all)
	}
}

// largestBudget returns a budget that is just below all limits.
func largestBudget(name string, length int) *policyv1.PodDisruptionBudget {
	text := func(i int) string { return fmt.Sprintf("%0*d", length, i) }
	b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, Labels: map[string]string{}, Annotations: map[string]string{}}}
	for _, key := range append(budgetRecord, "kubectl-etcd.dev/other", "example.com/other") {
		b.Annotations[key] = strings.Repeat("x", mostRecord/(len(budgetRecord)+8))
	}
	for i := range 200 {
		b.Labels[text(i)] = text(i)
		b.OwnerReferences = append(b.OwnerReferences, metav1.OwnerReference{Kind: text(i), UID: types.UID(text(i))})
	}
	b.Labels[v1alpha1.CreatedByLabel] = v1alpha1.CreatedByController
	most := &metav1.LabelSelector{}
	for i := 0; ; i++ {
		more := most.DeepCopy()
		more.MatchExpressions = append(more.MatchExpressions, metav1.LabelSelectorRequirement{Key: text(i), Values: []string{text(i)}})
		if limitedSelector(more) == nil {
			b.Spec.Selector = most
			return b
		}
		most = more
	}
}
