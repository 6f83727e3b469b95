// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
)

// Patch merges a body into an object.
type Patch struct {
	Kind Kind
	Name string
	Body map[string]any
}

// Command implements Action.
func (p Patch) Command(f Flags) string {
	text, err := json.Marshal(p.Body)
	if err != nil {
		panic(err) // a body has strings and maps only
	}
	return f.kubectl("patch %s/%s --type merge -p %s", p.Kind, p.Name, format.Quote(string(text)))
}

// Do implements Action.
func (p Patch) Do(ctx context.Context, c Clients) error { return c.merge(ctx, p.Kind, p.Name, p.Body) }

// RetainVolumes keeps the volumes of claims when the claims are deleted. Do passes over a claim that
// is gone, which an interrupted run has deleted after it had retained the volume, and over one that has no
// volume or whose volume is gone.
type RetainVolumes struct {
	Claims []string
	// Unbound are claims that had no volume when the plan was made. Do also reads these.
	Unbound []string
	// Mark is an annotation of the volumes. Do adds the reclaim policy from before to its value. The zero
	// value is none.
	Mark Annotation
}

// Command implements Action.
func (r RetainVolumes) Command(f Flags) string {
	if len(r.Claims) == 0 {
		return "true # no claim has a volume"
	}
	name := f.kubectl("get pvc $claim -o jsonpath='{.spec.volumeName}'")
	mark := ""
	if r.Mark.Key != "" {
		mark = fmt.Sprintf(`"metadata":{"annotations":{"%s":"%s"}},`, r.Mark.Key, r.Mark.Value)
	}
	return fmt.Sprintf("for claim in %s; do\n  kubectl%s patch pv \"$(%s)\" -p '{%s\"spec\":{\"persistentVolumeReclaimPolicy\":\"Retain\"}}'\ndone",
		strings.Join(r.Claims, " "), f.Context, name, mark)
}

// Do implements Action.
func (r RetainVolumes) Do(ctx context.Context, c Clients) error {
	for _, name := range slices.Concat(r.Claims, r.Unbound) {
		claim, err := c.read(ctx, Claim, name)
		if err != nil {
			return err
		}
		if claim == nil {
			continue
		}
		bound, _, err := unstructured.NestedString(claim.Object, "spec", "volumeName")
		if err != nil {
			return fmt.Errorf("retain the volume of claim %s: %w", name, err)
		}
		if bound == "" {
			continue
		}
		if err := r.retain(ctx, c, bound); err != nil {
			return err
		}
	}
	return nil
}

// retain retains one volume. A mark of the same plan stays: it has the policy from before.
func (r RetainVolumes) retain(ctx context.Context, c Clients, name string) error {
	body := map[string]any{"spec": map[string]any{"persistentVolumeReclaimPolicy": "Retain"}}
	if r.Mark.Key != "" {
		pv, err := c.read(ctx, Volume, name)
		if pv == nil || err != nil {
			return err
		}
		policy, _, err := unstructured.NestedString(pv.Object, "spec", "persistentVolumeReclaimPolicy")
		if err != nil {
			return fmt.Errorf("retain volume %s: %w", name, err)
		}
		if !strings.HasPrefix(pv.GetAnnotations()[r.Mark.Key], r.Mark.Value) {
			body["metadata"] = map[string]any{"annotations": map[string]any{r.Mark.Key: strings.TrimSpace(r.Mark.Value + " " + policy)}}
		}
	}
	if err := c.merge(ctx, Volume, name, body); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	return nil
}

// Annotate changes annotations of an object.
type Annotate struct {
	Kind Kind
	Name string
	// Overwrite allows a change of an annotation that has another value.
	Overwrite bool
	Changes   []Annotation
}

// Annotation is one annotation to set or to remove.
type Annotation struct {
	Key, Value string
	Remove     bool
}

// Command implements Action.
func (a Annotate) Command(f Flags) string {
	parts := []string{"annotate"}
	if a.Overwrite {
		parts = append(parts, "--overwrite")
	}
	parts = append(parts, fmt.Sprintf("%s/%s", a.Kind, a.Name))
	for _, change := range a.Changes {
		if change.Remove {
			parts = append(parts, change.Key+"-")
		} else {
			parts = append(parts, format.Quote(change.Key+"="+change.Value))
		}
	}
	return f.kubectl("%s", strings.Join(parts, " "))
}

// Do implements Action.
func (a Annotate) Do(ctx context.Context, c Clients) error {
	o, err := c.read(ctx, a.Kind, a.Name)
	if err != nil {
		return err
	}
	if o == nil {
		return fmt.Errorf("annotate %s %s: there is no such object", a.Kind, a.Name)
	}
	annotations := map[string]any{}
	for _, change := range a.Changes {
		has, found := o.GetAnnotations()[change.Key]
		switch {
		case change.Remove:
			annotations[change.Key] = nil
		case found && has != change.Value && !a.Overwrite:
			return fmt.Errorf("annotate %s %s: %s is %q already", a.Kind, a.Name, change.Key, has)
		default:
			annotations[change.Key] = change.Value
		}
	}
	return c.merge(ctx, a.Kind, a.Name, map[string]any{"metadata": map[string]any{"annotations": annotations}})
}
