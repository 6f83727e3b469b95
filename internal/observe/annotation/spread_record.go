// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// SpreadRecord is what admission did to a member's pod. Admission has no side effects, so it
// writes the record into an annotation of the pod. The controller reads it there, makes Events of
// the notes, and judges the terms later.
type SpreadRecord struct {
	// Policy is the name of the policy that required it.
	Policy string
	// At is when admission wrote it, zero in the records of earlier versions.
	At time.Time
	// Terms are those that admission added.
	Terms []spread.Term
	// Notes are those of the rule.
	Notes []SpreadNote
}

// recordWindow is longer than the creation of a pod takes, from its admission on, with the difference of
// two clocks.
const recordWindow = 5 * time.Minute

// WrittenAbout reports whether the record was written about at a time. If that is when its pod is
// created, the record is the pod's own. Any other one comes from a pod template or a backup, into which
// a user copied the annotations of a pod.
func (s SpreadRecord) WrittenAbout(at time.Time) bool {
	return !s.At.IsZero() && at.Sub(s.At).Abs() < recordWindow
}

// SpreadNote is a note as the annotation has it. Its reason is a string, because another
// version or another client may have written the annotation.
type SpreadNote struct {
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
}

// Add appends a note of the rule.
func (s *SpreadRecord) Add(notes ...policy.Note) {
	for _, n := range notes {
		s.Notes = append(s.Notes, SpreadNote{Reason: n.Reason.Name(), Message: n.Message})
	}
}

// spreadRecordJSON is the format of a SpreadRecord in the annotation.
type spreadRecordJSON struct {
	Policy string       `json:"policy"`
	At     string       `json:"at,omitempty"`
	Terms  []string     `json:"terms,omitempty"`
	Notes  []SpreadNote `json:"notes,omitempty"`
}

// String returns the annotation's value. The same record gives the same bytes.
func (s SpreadRecord) String() string {
	out := spreadRecordJSON{Policy: s.Policy, Notes: s.Notes}
	if !s.At.IsZero() {
		out.At = s.At.UTC().Format(time.RFC3339)
	}
	for _, t := range s.Terms {
		out.Terms = append(out.Terms, termString(t))
	}
	text, err := json.Marshal(out)
	if err != nil {
		return "" // strings always marshal
	}
	return string(text)
}

// SpreadRecordOf reads a pod's record. It returns false for a pod without one, for an invalid record,
// which another client wrote, and for one that was not written when the pod was created. Of a pod that
// is being created, the caller must check that.
func SpreadRecordOf(pod *corev1.Pod) (SpreadRecord, bool) {
	text, ok := pod.Annotations[v1alpha1.SpreadAnnotation]
	if !ok {
		return SpreadRecord{}, false
	}
	var in spreadRecordJSON
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		return SpreadRecord{}, false
	}
	s := SpreadRecord{Policy: in.Policy, Notes: in.Notes}
	if in.At != "" {
		at, err := time.Parse(time.RFC3339, in.At)
		if err != nil || !pod.CreationTimestamp.IsZero() && !(SpreadRecord{At: at}).WrittenAbout(pod.CreationTimestamp.Time) {
			return SpreadRecord{}, false
		}
		s.At = at.UTC().Truncate(time.Second)
	}
	for _, text := range in.Terms {
		t, ok := parseTerm(text)
		if !ok {
			return SpreadRecord{}, false
		}
		s.Terms = append(s.Terms, t)
	}
	return s, true
}

// termString returns a term as in the annotation:
// "TopologySpread topology.kubernetes.io/zone hard minDomains=3".
func termString(t spread.Term) string {
	firmness := "soft"
	if t.Hard {
		firmness = "hard"
	}
	text := fmt.Sprintf("%s %s %s", t.Kind, t.TopologyKey, firmness)
	if t.MinDomains > 0 {
		text += " minDomains=" + strconv.Itoa(t.MinDomains)
	}
	return text
}

func parseTerm(text string) (spread.Term, bool) {
	parts := strings.Fields(text)
	if len(parts) < 3 || len(parts) > 4 {
		return spread.Term{}, false
	}
	t := spread.Term{Kind: spread.TermKind(parts[0]), TopologyKey: parts[1], Hard: parts[2] == "hard"}
	if len(parts) == 4 {
		n, err := strconv.ParseInt(strings.TrimPrefix(parts[3], "minDomains="), 10, 32)
		if err != nil {
			return spread.Term{}, false
		}
		t.MinDomains = int(n)
	}
	return t, true
}
