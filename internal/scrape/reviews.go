// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"context"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// New returns a guard that uses the API server. It needs the permission to create
// tokenreviews and subjectaccessreviews. Its requests have a separate rate limit, so that a
// client that tries tokens doesn't slow down other requests.
func New(config *rest.Config) (*Guard, error) {
	own := rest.CopyConfig(config)
	own.QPS, own.Burst, own.RateLimiter = 5, 10, nil
	client, err := kubernetes.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("create a client: %w", err)
	}
	r := reviews{client}
	return &Guard{Identify: r.identify, Allowed: r.allowed, Clock: clock.RealClock{}}, nil
}

// reviews asks the API server who has a token, and what that user may do.
type reviews struct{ client kubernetes.Interface }

func (r reviews) identify(ctx context.Context, token string) (authenticationv1.UserInfo, bool, error) {
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}
	review, err := r.client.AuthenticationV1().TokenReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return authenticationv1.UserInfo{}, false, fmt.Errorf("review a token: %w", err)
	}
	return review.Status.User, review.Status.Authenticated, nil
}

func (r reviews) allowed(ctx context.Context, user authenticationv1.UserInfo, verb, path string) (bool, error) {
	extra := map[string]authorizationv1.ExtraValue{}
	for key, values := range user.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra,
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Verb: verb, Path: path},
	}}
	review, err := r.client.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("review whether user %s may %s %s: %w", user.Username, verb, path, err)
	}
	return review.Status.Allowed, nil
}
