import type { Model, ModelJob } from '@gatehouse/contract'
import { useState } from 'react'
import { api, queryClient } from '../../api.ts'
import { common } from '../../messages/common.ts'
import { modelsText as text } from '../../messages/models.ts'
import { useMay } from '../../session.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmName } from '../../ui/dialog.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Failure } from '../../ui/notice.tsx'
import { bytesText } from '../../ui/numbers.ts'
import { announce } from '../../ui/toasts.tsx'
import { useAct } from '../../ui/use-act.ts'
import { Visible } from '../../ui/visible.tsx'

const refresh = () => queryClient.invalidateQueries({ queryKey: ['listModels'] })

const isUnderWay = (job: ModelJob | null): boolean =>
  job?.status === 'running' || job?.status === 'waiting'

const Progress = ({ job }: { readonly job: ModelJob }) => {
  const rate = job.bytes_per_second === null ? '' : ` · ${bytesText(job.bytes_per_second)}/s`
  return (
    <div className="grid gap-1">
      <progress
        aria-label={job.model_id}
        max={100}
        value={job.percent}
        className="w-full accent-accent"
      />
      <p className="figure text-[0.933rem] text-ink-soft" role="status">
        {text.phase[job.phase]} · {text.progress(job.percent.toFixed(0), rate)}
      </p>
      {job.error && (
        <p className="text-[0.933rem] text-bad">
          <Visible text={job.error.message} />
        </p>
      )}
    </div>
  )
}

export const ModelState = ({ model }: { readonly model: Model }) => {
  if (model.job && isUnderWay(model.job)) return <Progress job={model.job} />
  return (
    <span className="flex flex-wrap gap-1.5">
      <Badge tone={model.installed ? 'good' : 'neutral'}>
        {model.installed ? text.installed : text.notInstalled}
      </Badge>
      {model.default && <Badge tone="accent">{text.default}</Badge>}
      {model.update_available && <Badge tone="warn">{text.update}</Badge>}
      {!model.listed && <Badge tone="warn">{text.unlisted}</Badge>}
      {model.problem !== null && (
        <span className="w-full text-[0.933rem] text-bad">
          <Visible text={model.problem} />
        </span>
      )}
      {!model.installed && model.job?.error && (
        <span className="w-full text-[0.933rem] text-bad">
          <Visible text={model.job.error.message} />
        </span>
      )}
    </span>
  )
}

export const ModelFitView = ({ model: { fit } }: { readonly model: Model }) =>
  fit === null ? (
    '–'
  ) : (
    <span>
      <Badge tone={fit.grade === 'fits' ? 'good' : 'warn'}>{text.fits[fit.grade]}</Badge>{' '}
      <span className="whitespace-nowrap text-[0.933rem] text-ink-soft">
        {text.fitNeeds(bytesText(fit.needs_bytes))}
      </span>
    </span>
  )

const verifyFile = async (id: string): Promise<void> => {
  const { verified, detail } = await api.verifyModel({ id })
  announce(verified ? text.verified : `${text.verifyFailed} ${detail ?? ''}`)
}

/** Install with progress, cancel, go on, verify, remove. */
export const ModelActions = ({ model }: { readonly model: Model }) => {
  const { id, installed, partial_bytes } = model
  const act = useAct()
  const mayManage = useMay('models.manage')
  const [removing, setRemoving] = useState(false)
  const then = (work: () => Promise<unknown>) => () =>
    void act.run(async () => {
      await work()
      await refresh()
    })
  if (!mayManage) return null
  const install = partial_bytes > 0 ? text.resume(bytesText(partial_bytes)) : text.install
  return (
    <div className="grid gap-2">
      {isUnderWay(model.job) ? (
        <Button
          busy={act.busy}
          aria-label={`${text.cancel}: ${id}`}
          onClick={then(() => api.cancelInstall({ id }))}
        >
          {text.cancel}
        </Button>
      ) : installed ? (
        <Menu
          trigger={
            <Button icon="more" aria-label={`${common.actions}: ${id}`} busy={act.busy}>
              <span className="sm:sr-only">{common.actions}</span>
            </Button>
          }
          items={[
            { text: text.start, onSelect: then(() => api.startEngine({ model: id })) },
            {
              text: text.makeDefault,
              onSelect: then(async () => {
                await api.setDefaultModel({ id })
                announce(text.isDefault(id))
              }),
            },
            { text: text.verify, onSelect: then(() => verifyFile(id)) },
            { text: text.remove, danger: true, onSelect: () => setRemoving(true) },
          ]}
        />
      ) : (
        <Button
          busy={act.busy}
          aria-label={`${install}: ${id}`}
          onClick={then(() => api.installModel({ id }))}
        >
          {install}
        </Button>
      )}
      <Failure error={act.error} />
      {removing && (
        <ConfirmName
          title={text.removeTitle(id)}
          name={id}
          submit={text.remove}
          onClose={() => setRemoving(false)}
          onConfirm={async () => {
            const { freed_bytes } = await api.removeModel({ id })
            await refresh()
            announce(text.removed(bytesText(freed_bytes)))
            setRemoving(false)
          }}
        >
          {text.removeIntro}
        </ConfirmName>
      )}
    </div>
  )
}
