// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package operate

import (
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LastWriter returns the field manager that last wrote a field of an object's spec, such as replicas, and when it did
// so. Both are zero if that is not known.
func LastWriter(o metav1.Object, field string) (manager string, at time.Time) {
	for _, m := range o.GetManagedFields() {
		var written struct {
			Spec map[string]json.RawMessage `json:"f:spec"`
		}
		if m.Time == nil || m.FieldsV1 == nil || json.Unmarshal(m.FieldsV1.GetRawBytes(), &written) != nil {
			continue
		}
		if _, writes := written.Spec["f:"+field]; writes && m.Time.After(at) {
			manager, at = m.Manager, m.Time.Time
		}
	}
	return manager, at
}
