import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { registerServiceWorker } from './service-worker.ts'

/** The page is an app where the browser takes it for one, and a notification leads to what it told of. */
export function useInstalled(): void {
  const navigate = useNavigate()
  useEffect(() => {
    void registerServiceWorker()
    if (!('serviceWorker' in navigator)) return
    const hear = ({ data }: MessageEvent<{ readonly kind?: string; readonly path?: string }>) => {
      if (data.kind === 'open' && data.path?.startsWith('/')) void navigate({ to: data.path })
    }
    navigator.serviceWorker.addEventListener('message', hear)
    return () => navigator.serviceWorker.removeEventListener('message', hear)
  }, [navigate])
}
