# make demo   installs what a run needs, then raw text -> records ->
#             pre-training -> evaluation -> a checkpoint to pass on ->
#             a classifier -> answers to questions -> vectors -> a SavedModel
# make test   installs the test tools as well and runs all tests
# make lint   checks format and style
# make clean  removes .venv and demo_output
#
# PYTHON chooses the interpreter:  make test PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
# Tools are run as modules (python -m pip): a script in .venv/bin names its
# interpreter by path, which a blank in a folder's name can break.
RUN := $(VENV)/bin/python
SAMPLE := tests/testdata
DEMO := demo_output

.PHONY: help demo test lint clean
help:
	@sed -n 's/^# \(make .*\|  .*\)/\1/p' Makefile

# $(call install,NAME,WHAT): a .venv made by another interpreter, or before the
# folder was moved, is made anew; then WHAT is installed, unless the very same
# setup.py and constraints.txt were.
define install
	@set -e; \
	made_for="$$($(PYTHON) -VV) in $$PWD"; \
	if [ "$$(cat $(VENV)/made-for 2>/dev/null)" != "$$made_for" ]; then \
	    echo "Making $(VENV) with $$($(PYTHON) -V)"; \
	    rm -rf $(VENV); \
	    $(PYTHON) -m venv $(VENV); \
	    $(RUN) -m pip install --quiet --disable-pip-version-check \
	        --upgrade pip; \
	    printf '%s\n' "$$made_for" > $(VENV)/made-for; \
	fi; \
	from="$$(cat setup.py constraints.txt | cksum)"; \
	if [ "$$(cat $(VENV)/installed-$(1) 2>/dev/null)" != "$$from" ]; then \
	    echo "Installing into $(VENV): 3.3 GB, a few minutes"; \
	    PYTHONWARNINGS=ignore \
	    $(RUN) -m pip install --quiet --disable-pip-version-check \
	        --constraint constraints.txt --editable $(2); \
	    printf '%s\n' "$$from" > $(VENV)/installed-$(1); \
	fi
endef

demo:
	$(call install,demo,.)
	@rm -rf $(DEMO)
	$(RUN) create_pretraining_data.py \
	    --input_file=$(SAMPLE)/sample_text.txt \
	    --output_file=$(DEMO)/sample.tfrecord \
	    --vocab_file=$(SAMPLE)/vocab.txt \
	    --max_seq_length=64 --max_predictions_per_seq=10
	$(RUN) run_pretraining.py \
	    --input_file=$(DEMO)/sample.tfrecord --output_dir=$(DEMO)/model \
	    --bert_config_file=$(SAMPLE)/bert_config.json \
	    --do_train --do_eval \
	    --max_seq_length=64 --max_predictions_per_seq=10 \
	    --num_train_steps=1500 --num_warmup_steps=300 --learning_rate=2e-3 \
	    --seed=1
	$(RUN) convert_checkpoint.py \
	    --input=$(DEMO)/model --output=$(DEMO)/released --strip
	$(RUN) run_classifier.py \
	    --task_name=tsv --data_dir=$(SAMPLE)/classifier \
	    --text_a_column=sentence --label_column=kind \
	    --init_checkpoint=$(DEMO)/model \
	    --vocab_file=$(SAMPLE)/vocab.txt \
	    --output_dir=$(DEMO)/classifier \
	    --do_train --do_eval --do_predict \
	    --max_seq_length=32 --train_batch_size=16 --learning_rate=1e-3 \
	    --num_train_epochs=10 --predictions_with_labels --seed=1
	$(RUN) run_squad.py \
	    --train_file=$(SAMPLE)/squad/train.json \
	    --predict_file=$(SAMPLE)/squad/dev.json \
	    --init_checkpoint=$(DEMO)/model \
	    --vocab_file=$(SAMPLE)/vocab.txt \
	    --output_dir=$(DEMO)/squad \
	    --do_train --do_predict \
	    --max_seq_length=64 --max_query_length=16 --doc_stride=16 \
	    --train_batch_size=8 --learning_rate=1e-3 --num_train_epochs=10 --seed=1
	$(RUN) extract_features.py \
	    --input_file=$(SAMPLE)/sample_text.txt \
	    --output_file=$(DEMO)/features.jsonl \
	    --init_checkpoint=$(DEMO)/model \
	    --vocab_file=$(SAMPLE)/vocab.txt \
	    --layers=-1,-2 --max_seq_length=64
	$(RUN) export_savedmodel.py \
	    --kind=masked_lm --init_checkpoint=$(DEMO)/model \
	    --vocab_file=$(SAMPLE)/vocab.txt \
	    --export_dir=$(DEMO)/export
	@echo
	@echo "Of next_sentence_accuracy 0.9 and more is learned; guessing: 0.6."
	@echo "Records, checkpoints, TensorBoard events and eval_results.txt:"
	@ls -1 $(DEMO) $(DEMO)/model $(DEMO)/released $(DEMO)/classifier \
	    $(DEMO)/squad $(DEMO)/export/1

test:
	$(call install,test,'.[test]')
	$(RUN) -m pytest -n 2

lint:
	$(call install,test,'.[test]')
	$(RUN) -m ruff format --check .
	$(RUN) -m ruff check .

clean:
	rm -rf $(VENV) $(DEMO) build *.egg-info
