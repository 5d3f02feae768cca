import type { CatalogState, Model } from '@gatehouse/contract'
import { api, queryClient, useRead } from '../../api.ts'
import { common } from '../../messages/common.ts'
import { modelsText as text } from '../../messages/models.ts'
import { useMay } from '../../session.tsx'
import { Button } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { Failure } from '../../ui/notice.tsx'
import { bytesText } from '../../ui/numbers.ts'
import { Facts, Page, Section } from '../../ui/page.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { announce } from '../../ui/toasts.tsx'
import { useAct } from '../../ui/use-act.ts'
import { Visible } from '../../ui/visible.tsx'
import { EngineView } from './engine.tsx'
import { ModelActions, ModelFitView, ModelState } from './model-row.tsx'

const columns: readonly Column<Model>[] = [
  {
    id: 'model',
    header: text.model,
    wide: true,
    sortBy: ({ id }) => id,
    cell: ({ id, label, description, source }) => (
      <>
        <span className="font-medium">
          <Visible text={label ?? id} />
        </span>
        <p className="text-[0.933rem] text-ink-soft">
          <span className="mono">{id}</span>
          {source === 'built-in' && ` · ${text.builtIn}`}
        </p>
        {description !== undefined && (
          <p className="text-[0.933rem] text-ink-soft">
            <Visible text={description} />
          </p>
        )}
      </>
    ),
  },
  {
    id: 'size',
    header: text.size,
    align: 'right',
    sortBy: ({ size_bytes }) => size_bytes,
    cell: ({ size_bytes }) => bytesText(size_bytes),
  },
  {
    id: 'licence',
    header: text.licence,
    cell: ({ license_tag }) => <Visible text={license_tag ?? '–'} />,
  },
  { id: 'fit', header: text.fit, cell: (model) => <ModelFitView model={model} /> },
  { id: 'state', header: text.state, cell: (model) => <ModelState model={model} /> },
  { id: 'actions', header: '', cell: (model) => <ModelActions model={model} /> },
]

const Catalog = ({ catalog }: { readonly catalog: CatalogState }) => {
  const act = useAct()
  const mayManage = useMay('models.manage')
  const refresh = () =>
    void act.run(async () => {
      await api.refreshCatalog()
      await queryClient.invalidateQueries({ queryKey: ['listModels'] })
      announce(text.refreshed)
    })
  return (
    <Section
      title={text.catalog}
      actions={
        mayManage &&
        catalog.status !== 'not_configured' && (
          <Button busy={act.busy} onClick={refresh}>
            {text.refresh}
          </Button>
        )
      }
    >
      <Failure error={act.error} />
      <div className="card p-4">
        <Facts
          items={[
            [text.state, text.catalogStatus[catalog.status]],
            [
              text.catalogAge,
              catalog.fetched_at === null ? (
                common.never
              ) : (
                <Time key="age" at={catalog.fetched_at} />
              ),
            ],
            ...(catalog.reason === null
              ? []
              : [[common.details, <Visible key="reason" text={catalog.reason} />] as const]),
          ]}
        />
        {catalog.dropped.length > 0 && (
          <>
            <h3 className="mb-1 mt-3 font-medium">{text.dropped}</h3>
            <ul className="list-disc pl-5">
              {catalog.dropped.map(({ id, index, field, reason }) => (
                <li key={index} className="[overflow-wrap:anywhere]">
                  <Visible
                    text={[id ?? `#${index}`, field ?? '', reason].filter(Boolean).join(': ')}
                  />
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
    </Section>
  )
}

export const ModelsPage = () => {
  const list = useRead('listModels')
  const engine = useRead('showEngine')
  return (
    <Page title={text.title} intro={text.intro}>
      <Loaded query={list}>
        {({ models, catalog }) => (
          <>
            <DataTable
              caption={text.caption}
              rows={models}
              columns={columns}
              keyOf={({ id }) => id}
              sort={{ id: 'size' }}
            />
            <Loaded query={engine}>{(state) => <EngineView engine={state} />}</Loaded>
            <Catalog catalog={catalog} />
          </>
        )}
      </Loaded>
    </Page>
  )
}
