package operators

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPartsComeOutInOrder(t *testing.T) {
	for _, limit := range []int64{0, 3, 1000} {
		var got []string
		o := NewInOrder(limit, func(part int, item any) error {
			got = append(got, fmt.Sprint(part, ":", item))
			return nil
		})
		next := make(chan int, 20)
		var want []string
		for p := range 20 {
			next <- p
			for k := range p % 4 {
				want = append(want, fmt.Sprint(p, ":", k))
			}
		}
		close(next)
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				for p := range next {
					for k := range p % 4 {
						time.Sleep(time.Duration(rand.IntN(200)) * time.Microsecond)
						require.NoError(t, o.Add(t.Context(), p, k, 1))
					}
					require.NoError(t, o.Done(p))
				}
			})
		}
		group.Wait()
		require.Equal(t, strings.Join(want, " "), strings.Join(got, " "))
	}
}

func TestWaitingPartsCanBeCancelled(t *testing.T) {
	o := NewInOrder(0, func(int, any) error { return nil })
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	require.ErrorIs(t, o.Add(ctx, 1, "x", 1), context.Canceled)
	require.NoError(t, o.Add(t.Context(), 0, "x", 1), "the parts before it go on")
}
