// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package certificate maintains the serving certificate of etcd-webhook. No admission
// fails while the certificate or its authority is replaced.
//
// The state is in the cluster: one Secret holds the authority and the certificate, and the
// webhook configuration defines which authorities API servers trust. Every replica makes the
// same passes over both, one small step at a time. Each write requires the version that was
// read, so the replicas need no leader:
//
//   - A new authority is first announced in the Secret only. It signs after every webhook
//     has trusted it, unchanged, for the settle time.
//   - An authority that no longer signs stays trusted for as long as a certificate that it
//     signed can be valid.
//   - A replica switches to a certificate of another authority only if every webhook has
//     trusted that authority for the settle time, whichever program put it there.
//
// The last rule also holds for certificates in files that another program maintains, such as
// cert-manager. The package doesn't depend on what is served.
package certificate
