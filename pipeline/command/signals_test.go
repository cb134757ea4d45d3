package command

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// The first signal ends a search, the next one the command; without a search, or where the terminal is gone, the first one does.
func TestSignals(t *testing.T) {
	make := func() (*Signals, context.Context) {
		ctx, cancel := context.WithCancel(t.Context())
		return &Signals{cancel: cancel}, ctx
	}
	s, ctx := make()
	enough, over := s.search()
	s.Take(true)
	<-enough
	require.NoError(t, ctx.Err())
	s.Take(true)
	require.Error(t, ctx.Err())
	over()

	s, ctx = make()
	enough, _ = s.search()
	s.Take(false)
	require.Error(t, ctx.Err())
	require.Empty(t, enough)

	s, ctx = make()
	_, over = s.search()
	over()
	s.Take(true)
	require.Error(t, ctx.Err())
}
