import type { EngineState } from '@gatehouse/contract'
import type { ReactNode } from 'react'
import { api, queryClient } from '../../api.ts'
import { modelsText as text } from '../../messages/models.ts'
import { useMay } from '../../session.tsx'
import { Badge, type BadgeTone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Failure, Notice } from '../../ui/notice.tsx'
import { bytesText, numberText } from '../../ui/numbers.ts'
import { Facts, Section } from '../../ui/page.tsx'
import { announce } from '../../ui/toasts.tsx'
import { useAct } from '../../ui/use-act.ts'
import { Visible } from '../../ui/visible.tsx'

const refresh = () =>
  queryClient.invalidateQueries({
    predicate: ({ queryKey: [name] }) => name === 'showEngine' || name === 'listModels',
  })

const tones: Readonly<Record<EngineState['status'], BadgeTone>> = {
  not_installed: 'neutral',
  stopped: 'neutral',
  starting: 'accent',
  running: 'good',
  backing_off: 'warn',
}

const factsOf = (engine: EngineState): readonly (readonly [string, ReactNode])[] => [
  [
    text.engineStatus,
    <Badge key="status" tone={tones[engine.status]}>
      {text.engineStates[engine.status]}
    </Badge>,
  ],
  [text.engineVersion, engine.package.version],
  [text.loaded, engine.model ?? text.noneLoaded],
  ...(engine.sandbox === null ? [] : [[text.sandbox, engine.sandbox] as const]),
  ...(engine.memory_bytes === null ? [] : [[text.memory, bytesText(engine.memory_bytes)] as const]),
  ...(engine.tokens_per_second === null
    ? []
    : [[text.speed, text.tokens(engine.tokens_per_second.toFixed(1))] as const]),
  [text.requests, numberText(engine.requests)],
  [text.crashes, numberText(engine.crashes)],
  ...(engine.last_failure === null
    ? []
    : [[text.lastFailure, <Visible key="failure" text={engine.last_failure} />] as const]),
]

/** The program that runs models: how it is, and what stands in its way. */
export const EngineView = ({ engine }: { readonly engine: EngineState }) => {
  const act = useAct()
  const mayManage = useMay('models.manage')
  const { problem, remedy, installed } = engine.package
  const setUp = () =>
    void act.run(async () => {
      await api.setUpEngine()
      await refresh()
      announce(text.setUpBegun)
    })
  const stop = () =>
    void act.run(async () => {
      await api.stopEngine()
      await refresh()
    })
  return (
    <Section
      title={text.engine}
      actions={
        mayManage && (
          <>
            {!installed && (
              <Button
                tone="primary"
                busy={act.busy || engine.setup.status === 'running'}
                onClick={setUp}
              >
                {text.setUp}
              </Button>
            )}
            {engine.model !== null && (
              <Button busy={act.busy} onClick={stop}>
                {text.stop}
              </Button>
            )}
          </>
        )
      }
    >
      <div className="grid gap-3">
        {problem !== null && (
          <Notice tone="warn">
            <p className="first-letter:uppercase">
              <Visible text={problem} />
            </p>
            {remedy !== null && (
              <p className={remedy.startsWith('gatehouse ') ? 'mono' : ''}>
                <Visible text={remedy} />
              </p>
            )}
          </Notice>
        )}
        {engine.setup.status === 'running' && (
          <p role="status" className="text-ink-soft">
            {engine.setup.packages_total === 0
              ? text.setUpBegun
              : text.setUpProgress(
                  numberText(engine.setup.packages_done),
                  numberText(engine.setup.packages_total),
                )}
          </p>
        )}
        {engine.setup.error !== null && !installed && (
          <Notice tone="bad">
            <Visible text={engine.setup.error.message} />
          </Notice>
        )}
        <Failure error={act.error} />
        <div className="card p-4">
          <Facts items={factsOf(engine)} />
        </div>
      </div>
    </Section>
  )
}
