import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import './styles/tokens.css'
import './styles/base.css'
import './styles/frame.css'
import './styles/chat.css'
import './styles/call.css'
import './styles/timeline.css'
import './styles/reliability.css'

const root = document.getElementById('root')
if (root) createRoot(root).render(<App />)
